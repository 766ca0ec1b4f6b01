"""The campaigns of a file of judgments, collected or rated, with what a command says about duplicates and changes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from streams.cli.log_options import LogFile
    from streams.core.campaign.campaign import Campaign
    from streams.errors import RecordError
    from streams.formats.unselected import UnselectedChanges
    from streams.offline.categories import CategoryField
    from streams.offline.rating import RatedLog
    from streams.wire.events import CampaignSettings, Judgment


def logs_by_campaign(log: LogFile, *, only: Sequence[str]) -> dict[str, list[Judgment]]:
    """Read a whole file and return its judgments by campaign, without duplicates. `only` selects campaigns."""
    return collect_campaigns(log, log.batches(), only=only)


def collect_campaigns(
    log: LogFile, batches: Iterable[Sequence[Judgment]], *, only: Sequence[str]
) -> dict[str, list[Judgment]]:
    """Return the judgments of a file by campaign, without duplicates and those that a later one replaces.

    `batches` are those of the file.
    """
    from streams.core.campaign.logged_changes import other_judge
    from streams.formats.unselected import UnselectedChanges
    from streams.offline.versions import find_versions

    logs: dict[str, dict[str, Judgment]] = {}
    read = 0
    for batch in batches:
        read += len(batch)
        for judgment in batch:
            logs.setdefault(judgment.campaign, {}).setdefault(judgment.id, judgment)
    if duplicates := read - sum(map(len, logs.values())):
        _report_duplicates(log, duplicates, read)
    for name in only:
        if name not in logs:
            raise click.UsageError(f"{log.file}: no campaign {name!r} in the log; {suggestion(name, logs)}")
    chosen = {name: list(found.values()) for name, found in logs.items() if not only or name in only}
    versions = {name: find_versions(found) for name, found in chosen.items()}
    if rejected := [each for found in versions.values() for each in found.rejected]:
        _report_rejected(log, len(rejected), read, other_judge(rejected[0].replaces or ""))
    changes = log.reading.selection.changes if log.reading.selection else UnselectedChanges()
    left = {name: [each for each in found.in_force if not changes.covers(each)] for name, found in versions.items()}
    _report_replaced(log, sum(map(len, chosen.values())), sum(map(len, left.values())) + len(rejected))
    return left


def _report_duplicates(log: LogFile, duplicates: int, read: int) -> None:
    log.report(f"{duplicates:,} of {read:,} judgments are duplicates and were ignored")


def _report_rejected(log: LogFile, rejected: int, read: int, first: RecordError | None) -> None:
    log.report(f"{rejected:,} of {read:,} judgments were rejected; the first: {first}")


def _report_replaced(log: LogFile, read: int, left: int) -> None:
    if left < read:
        log.report(f"{read - left:,} of {read:,} judgments were replaced by a later one, and are left out")


def rate_log(
    log: LogFile,
    settings: CampaignSettings,
    *,
    only: Sequence[str],
    observe: Callable[[Campaign], None] | None = None,
    restart: Callable[[LogFile], Iterable[Sequence[Judgment]]] | None = None,
    batches: Iterable[Sequence[Judgment]] | None = None,
    campaign_type: type[Campaign] | None = None,
    judge_key: str = "",
    by: CategoryField | None = None,
    unselected: Sequence[UnselectedChanges] = (),
) -> RatedLog:
    """Rate the campaigns of a file. Report duplicates and rejections. Raise FormatError if nothing was rated.

    `batches` are those of the file if a caller has begun to read it. `campaign_type` is that of a plan. With `by`,
    each value of a tag is also rated by itself. `restart` returns the judgments of the file when it is read again,
    because judges changed verdicts. `unselected` has changes of judgments that the caller leaves out.
    """
    from streams.core import kernels
    from streams.core.campaign.campaign import Campaign
    from streams.offline.rating import rate

    log.announce_compiling()
    if log.is_long:
        kernels.compiled("pairs")  # compile first, so that the first batch is fast too
    selection = log.reading.selection
    rate_campaigns = partial(
        rate,
        settings=settings,
        only=only,
        campaign_type=campaign_type or Campaign,
        judge_key=judge_key,
        by=by,
        unselected=[*unselected, *([selection.changes] if selection else [])],
    )
    try:
        rated = rate_campaigns(batches or log.batches(columns=log.is_long), observe=observe)
        while rated.changed:  # judges changed verdicts: the log is rated again without the earlier ones
            again = log.again(without=log.without)
            rated = rate_campaigns(
                restart(again) if restart else again.judgments(), observe=observe, changed=rated.changed
            )
    except ParameterError as error:
        raise click.UsageError(f"{log.file}: {error}") from None
    duplicates = sum(campaign.counts.duplicates for campaign in rated.campaigns.values())
    if duplicates:
        _report_duplicates(log, duplicates, rated.read)
    taken_back = sum(campaign.counts.taken_back for campaign in rated.campaigns.values())
    _report_replaced(log, rated.read, rated.read - taken_back)
    rated.check(log.file)
    if rated.rejections:
        _report_rejected(log, rated.rejections, rated.read, rated.first_rejection)
    for name in rated.unrated:
        log.report(f"nothing of the campaign {name!r} was rated; rank it alone with --campaign")
    return rated
