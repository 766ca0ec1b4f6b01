"""Retractions and suspensions: what the log leaves out, and the signal that a campaign has to be rated again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from streams.errors import RecordError
from streams.wire.events import ReinstateJudges, Retract, SuspendJudges

if TYPE_CHECKING:
    from collections.abc import Mapping


NO_LOG = "the log can't be read again here, and this command needs it"

# Commands after which a campaign is rated again from its beginning.
RerunCommand = Retract | SuspendJudges | ReinstateJudges


class Retractions(Struct, frozen=True, kw_only=True):
    """Retracted judgments by id; retracted, suspended and reinstated judges by pseudonym, each with an offset.

    Of a retracted judge, the judgments before the offset are left out. Of a suspended one all are, unless a later
    command has reinstated the judge. Only the last offset of each kind counts. So two values can be joined in any
    order, and a campaign that is rated from its beginning knows what later commands will decide.
    """

    ids: tuple[str, ...] = ()
    judges: dict[str, int] = {}
    suspended: dict[str, int] = {}
    reinstated: dict[str, int] = {}

    def find_reason(self, judgment: str, judge: str, offset: int) -> Literal["retracted", "suspended"] | None:
        """Return why the judgment of a judge at an offset is left out, or None."""
        if judgment in self.ids or offset < self.judges.get(judge, -1):
            return "retracted"
        return "suspended" if self.is_suspended(judge) else None

    def is_suspended(self, judge: str) -> bool:
        """Return whether all judgments of a judge are left out."""
        return self.suspended.get(judge, -1) > self.reinstated.get(judge, -1)

    def extended(self, command: RerunCommand, offset: int) -> Retractions:
        """Return these retractions and those of a command at an offset of the log."""
        if isinstance(command, Retract):
            judges = {} if command.judge is None else {command.judge: offset}
            return self.joined(Retractions(ids=command.judgments, judges=judges))
        judges = dict.fromkeys(command.judges, offset)
        if isinstance(command, SuspendJudges):
            return self.joined(Retractions(suspended=judges))
        return self.joined(Retractions(reinstated=judges))

    def includes(self, others: Retractions) -> bool:
        """Return whether all of the other retractions are among these."""
        return self.joined(others) == self

    def joined(self, others: Retractions) -> Retractions:
        """Return these retractions and the others."""
        return Retractions(
            ids=tuple(dict.fromkeys((*self.ids, *others.ids))),
            judges=_latest(self.judges, others.judges),
            suspended=_latest(self.suspended, others.suspended),
            reinstated=_latest(self.reinstated, others.reinstated),
        )

    def without(self, judge: str, offset: int) -> Retractions:
        """Return these retractions without those of a judge before an offset. A rerun finds them in the log again."""
        last = max(of.get(judge, -1) for of in (self.judges, self.suspended, self.reinstated))
        if not 0 <= last <= offset:
            return self
        return replace(
            self,
            judges=_without(self.judges, judge),
            suspended=_without(self.suspended, judge),
            reinstated=_without(self.reinstated, judge),
        )


def _latest(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {judge: max(one.get(judge, -1), other.get(judge, -1)) for judge in sorted({*one, *other})}


def _without(offsets: Mapping[str, int], judge: str) -> dict[str, int]:
    return {name: at for name, at in offsets.items() if name != judge}


class NewRetraction(Exception):  # noqa: N818 - it names a condition
    """The log retracts something at an offset. The campaign has to be rated again, with these `retractions`."""

    def __init__(self, offset: int, retractions: Retractions) -> None:
        super().__init__()
        self.offset = offset
        self.retractions = retractions


def check_retraction(known: Retractions, offset: int, command: RerunCommand, refusal: str | None) -> None:
    """Raise an error unless a campaign has been rated from the beginning as the command wants it.

    If there is a reason for its `refusal`, a new retraction is refused.
    """
    retractions = known.extended(command, offset)
    if retractions == known:
        return
    if refusal is not None:
        raise RecordError("refused_command", refusal, field="action")
    raise NewRetraction(offset, retractions)
