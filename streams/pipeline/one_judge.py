"""The log of a partition with the judgments of one judge only, for the board of this judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from streams.errors import RecordError
from streams.pipeline.decoding import decode_record
from streams.wire.events import Change, Create, Judgment, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.pipeline.campaign_batches import ReadLog
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.record import Record
    from streams.wire.events import Command

_SHARE = "judge_share"  # of all judgments, so it says nothing about those of one judge


class LogOfOneJudge:
    """Reads a log without the judgments of other judges and of other campaigns. `judge` is a pseudonym.

    All commands of the campaign are kept: what was retracted or revoked does not count.
    """

    def __init__(self, read_log: ReadLog, campaign: str, judge: str, options: ProcessorOptions) -> None:
        self._read_log = read_log
        self._campaign, self._judge, self._most_bytes = campaign, judge, options.max_record_bytes
        self._pseudonyms = options.campaign.pseudonyms

    def __call__(self, start: int, end: int) -> Iterator[list[Record]]:
        """Yield the records between two offsets."""
        for records in self._read_log(start, end):
            yield [kept for record in records if (kept := self._keep(record)) is not None]

    def _keep(self, record: Record) -> Record | None:
        try:
            event = decode_record(record, max_bytes=self._most_bytes)
        except RecordError:
            return None  # it was rejected, too
        if event.campaign != self._campaign:
            return None
        if isinstance(event, Judgment):
            name = event.judge if self._pseudonyms is None else self._pseudonyms[event.judge]
            return record if name == self._judge else None
        changed = _without_share(event)
        return record if changed is event else record._replace(value=encode(changed))


def options_of_one_judge(options: ProcessorOptions) -> ProcessorOptions:
    """Return the options that rate the log of one judge.

    Verdicts are remembered from the beginning. A campaign does so after its first change, which may be another judge's.
    """
    return replace(options, campaign=replace(options.campaign, remember_all=True))


def _without_share(command: Command) -> Command:
    """Return a command that sets no largest share of one judge."""
    if isinstance(command, Create) and command.settings.judge_share is not None:
        settings = msgspec.structs.replace(command.settings, judge_share=None)
        return msgspec.structs.replace(command, settings=settings)
    if isinstance(command, Change) and _SHARE in command.settings:
        return msgspec.structs.replace(command, settings={**command.settings, _SHARE: None})
    return command
