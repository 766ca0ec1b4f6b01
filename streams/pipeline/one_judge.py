"""The log of a partition as it is rated for the board of one judge."""

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
    """Reads a log without other campaigns and without the largest share of a judge.

    The judgments of other judges are kept: a judgment with an id of theirs is a duplicate, and one that replaces a
    verdict of theirs is rejected.
    """

    def __init__(self, read_log: ReadLog, campaign: str, options: ProcessorOptions) -> None:
        self._read_log = read_log
        self._campaign, self._most_bytes = campaign, options.max_record_bytes

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
            return record
        changed = _without_share(event)
        return record if changed is event else record._replace(value=encode(changed))


def options_of_one_judge(options: ProcessorOptions, judge: str) -> ProcessorOptions:
    """Return the options that rate the judgments of one judge, who is given by pseudonym.

    Their verdicts are remembered from the beginning, so that the first change need not wait.
    """
    return replace(options, campaign=replace(options.campaign, only_judge=judge, remember_all=True))


def _without_share(command: Command) -> Command:
    """Return a command that sets no largest share of one judge."""
    if isinstance(command, Create) and command.settings.judge_share is not None:
        settings = msgspec.structs.replace(command.settings, judge_share=None)
        return msgspec.structs.replace(command, settings=settings)
    if isinstance(command, Change) and _SHARE in command.settings:
        return msgspec.structs.replace(command, settings={**command.settings, _SHARE: None})
    return command
