"""`judgestream campaign forget`: erase one judge in every campaign that knows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from streams.cli.judges import NO_KEY
from streams.cli.options import timeout_option, with_settings
from streams.cli.stored_campaign import open_store
from streams.cli.terminal import confirm, safe
from streams.errors import JudgestreamError, StoreCorrupt, suggestion
from streams.stores.judges import look_up, read_as
from streams.wire import events
from streams.wire.quarantine import describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from streams.settings import Settings
    from streams.stores import Store
    from streams.stores.judges import FoundJudge

STILL = (
    "The log in Kafka still has the records of this judge. A copy without them: judgestream copy-log (docs/privacy.md)"
)


@click.command(
    "forget",
    epilog="""\b
Examples:
  judgestream campaign forget judge-17
  judgestream campaign forget 3f9a61c0d2b84e7715aa --campaign wmt13.fr-en --yes""",
)
@click.argument("judge")
@click.option(
    "--campaign", "chosen", multiple=True, metavar="NAME", help="Campaign; may be repeated.  [default: all campaigns]"
)
@click.option("--by", metavar="NAME", help="Name of the operator, kept in the log.")
@timeout_option(30.0, "Maximum seconds to wait for the answer of a worker, per campaign.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@with_settings("kafka", "redis", "namespace")
def forget(
    settings: Settings,
    *,
    judge: str,
    chosen: Sequence[str],
    by: str | None,
    timeout: float,
    yes: bool,
    as_json: bool,
) -> None:
    """Erase one judge in every campaign that knows them.

    JUDGE is a pseudonym or an id. Their judgments still count, under a name that says nothing. They are not excluded
    any more: what they send from now on is that of a new judge. Run it again if a campaign did not answer.
    """
    from streams.monitor.ledger.redis import RedisLedger

    with open_store(settings) as store:
        names = _campaigns(store, settings, chosen)
        failed: dict[str, str] = {}
        found = find_in(store, settings, names, judge, failed)
        for name, why in failed.items():
            click.echo(safe(f"✗ {name} can't be searched: {why}"), err=True)
        if not found:
            raise click.ClickException(
                f"no campaign knows this judge; {len(names):,} were searched. For an id, JUDGESTREAM_JUDGE_KEY must be "
                "the key of the workers"
            )
        pseudonym = next(iter(found.values())).pseudonym
        if not as_json:
            for name, each in found.items():
                click.echo(f"{name}: {each}")
        where = f"{len(found):,} campaign{'s' * (len(found) != 1)}"
        confirm(f"erase this judge in {where}? This can't be undone.", yes=yes)
        for name in found:
            try:
                said = _send(settings, name, f"~{pseudonym}", by=by, timeout=timeout)
            except JudgestreamError as error:
                failed[name] = str(error)
                click.echo(safe(f"✗ forget {name}: {error}"), err=True)
            else:
                if not as_json:
                    click.echo(safe(f"✓ forget {name}: {said}"))
        ledger = RedisLedger(store.client, namespace=settings.namespace)
        for name in names:
            ledger.forget_judge(name, pseudonym)
    if as_json:
        click.echo(events.encode({"judge": pseudonym, "forgotten": sorted(found.keys() - failed), "failed": failed}))
    if failed:
        raise click.ClickException(f"{', '.join(failed)} did not forget the judge; run the command again")
    click.echo(STILL, err=True)


def _campaigns(store: Store, settings: Settings, chosen: Sequence[str]) -> list[str]:
    """Return the names of the chosen campaigns, or of all."""
    from streams.kafka.admin import count_log_partitions
    from streams.wire.topics import JUDGMENTS

    topic = JUDGMENTS.within(settings.namespace)
    known = store.list_campaigns([f"{topic}/{number}" for number in range(count_log_partitions(settings))])
    for name in chosen:
        if name not in known:
            hint = suggestion(name, known) if known else "there is none yet"
            raise click.ClickException(f"no campaign {name!r}; {hint}")
    return list(dict.fromkeys(chosen)) or known


def find_in(
    store: Store, settings: Settings, campaigns: Collection[str], given: str, failed: dict[str, str]
) -> dict[str, FoundJudge]:
    """Return the judge that a text means in each of the campaigns that know them. Add those that can't be read."""
    candidates = list(read_as(given, settings.judge_key))
    if not candidates:
        raise click.ClickException(NO_KEY)
    for pseudonym, given_as in candidates:
        found: dict[str, FoundJudge] = {}
        for name in campaigns:
            try:
                judge = look_up(store, name, pseudonym, given_as)
            except StoreCorrupt as error:
                failed[name] = str(error)
            else:
                found |= {} if judge is None else {name: judge}
        if found:
            return found
    return {}


def _send(settings: Settings, campaign: str, judge: str, *, by: str | None, timeout: float) -> str:
    """Send the command to one campaign. Return what became of it."""
    from streams.kafka.commands import send_command

    command = events.ForgetJudge(id=str(uuid4()), campaign=campaign, at=datetime.now(UTC), by=by, judge=judge)
    status = send_command(settings, command, timeout=timeout)
    if status.quarantine is not None:
        return f"it takes effect when the campaign goes on; {describe_quarantine(campaign, status.quarantine)}"
    return f"done at offset {status.offset} of its log"
