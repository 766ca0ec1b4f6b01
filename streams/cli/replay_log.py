"""The log that `judgestream replay` sends: read once or in rounds, with new campaign names."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from streams.errors import suggestion
from streams.formats.names import shorten_name
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.events import LATEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from streams.cli.log_options import LogFile
    from streams.wire.events import Judgment

    Batches = Iterator[Sequence[Judgment]]

BETWEEN_ROUNDS = timedelta(seconds=1)


def read_rounds(read: Callable[[], Batches], *, loop: bool) -> Batches:
    """Read the log once, or with `loop` again and again.

    From the second round on the ids end in ~2, ~3 and so on, and the times continue after those of the last round.
    """
    first = last = None
    for judgments in read():
        if loop and judgments:
            times = [judgment.at for judgment in judgments]
            first = min(times) if first is None else min(first, *times)
            last = max(times) if last is None else max(last, *times)
        yield judgments
    if first is None or last is None:
        return
    span = last - first + BETWEEN_ROUNDS
    for number in count(2):
        shift = (number - 1) * span
        if LATEST - last <= shift:
            return  # no later time is accepted
        for judgments in read():
            yield [replace(each, id=shorten_name(f"{each.id}~{number}"), at=each.at + shift) for each in judgments]


def rename_campaigns(judgments: Sequence[Judgment], names: Mapping[str, str]) -> Sequence[Judgment]:
    """Return the judgments with the new names of their campaigns."""
    if not names:
        return judgments
    return [replace(each, campaign=names.get(each.campaign, each.campaign)) for each in judgments]


def read_new_names(log: LogFile, given: Sequence[str]) -> dict[str, str]:
    """Read `--campaign`. The whole file is checked first, so that nothing is sent under a wrong name."""
    if not given or log.is_renamed:
        return {}
    if not log.can_be_read_again:
        raise click.UsageError(f"--campaign reads FILE twice, but {log.file} can be read only once")
    known = {judgment.campaign for batch in log.judgments() for judgment in batch}
    names: dict[str, str] = {}
    for text in given:
        old, equals, new = text.rpartition("=")
        if not equals and len(known) != 1:
            raise click.UsageError(f"--campaign {text}: {log.file} has {len(known)} campaigns; write OLD={text}")
        old = old if equals else min(known)
        if old not in known:
            raise click.UsageError(f"--campaign {text}: no campaign {old!r} in the log; {suggestion(old, known)}")
        if not is_campaign_name(new):
            raise click.UsageError(f"--campaign {text}: {CAMPAIGN_RULE}")
        names[old] = new
    if len({names.get(name, name) for name in known}) < len(known):
        raise click.UsageError("--campaign: two campaigns would get the same name; choose another one")
    return names
