"""Retractions and suspensions: what the log leaves out, and the signal that a campaign has to be rated again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from streams.errors import RecordError
from streams.wire.events import ReinstateJudges, Retract, SuspendJudges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.wire.events import Judgment

NO_LOG = "the log can't be read again here, and this command needs it"

# Commands after which a campaign is rated again from its beginning.
RerunCommand = Retract | SuspendJudges | ReinstateJudges


class TakenBack(Struct, frozen=True):
    """Verdicts of a judge that were changed or revoked: their ids, and the offset of the record that did it.

    `offset` is that of the last command that named them.
    """

    offset: int
    ids: dict[str, int]


class Retractions(Struct, frozen=True, kw_only=True, dict=True):
    """Retracted judgments by id; retracted, suspended and reinstated judges by pseudonym, each with an offset.

    Verdicts that were taken back are left out if they are of the judge, or of any judge where its name is empty.

    Of a retracted judge, the judgments before the offset are left out. Of a suspended one all are, unless a later
    command has reinstated the judge. Only the last offset of each kind counts. So two values can be joined in any
    order, and a campaign that is rated from its beginning knows what later commands will decide.
    """

    ids: tuple[str, ...] = ()
    judges: dict[str, int] = {}
    suspended: dict[str, int] = {}
    reinstated: dict[str, int] = {}
    taken_back: dict[str, TakenBack] = {}

    @cached_property
    def all_ids(self) -> frozenset[str]:
        """The ids of judgments that may be left out."""
        return frozenset(self.ids).union(*(each.ids for each in self.taken_back.values()))

    def find_reason(
        self, judgment: Judgment, judge: str, offset: int
    ) -> Literal["retracted", "suspended", "taken_back"] | None:
        """Return why the judgment of a judge at an offset is left out, or None."""
        if (judgment.id in self.all_ids and judgment.id in self.ids) or offset < self.judges.get(judge, -1):
            return "retracted"
        if self.is_suspended(judge):
            return "suspended"
        if self.taken_back and (
            self._taken_back_at(judgment.id, judge) >= 0
            or (judgment.replaces is not None and offset < self._taken_back_at(judgment.replaces, judge))
        ):
            return "taken_back"
        return None

    def covers(self, verdict: str, judge: str, offset: int) -> bool:
        """Return whether all versions of a verdict before an offset are left out."""
        return bool(self.taken_back) and self._taken_back_at(verdict, judge) >= offset

    def _taken_back_at(self, verdict: str, judge: str) -> int:
        found = [self.taken_back[name].ids.get(verdict, -1) for name in (judge, "") if name in self.taken_back]
        return max(found, default=-1)

    def is_suspended(self, judge: str) -> bool:
        """Return whether all judgments of a judge are left out."""
        return self.suspended.get(judge, -1) > self.reinstated.get(judge, -1)

    def first_new_rejection(self, since: int) -> int:
        """Return the first offset at which a rerun may reject what was not rejected before the offset `since`.

        Judgments of a judge who is reinstated may leave no room for others that came later.
        """
        return 0 if any(at >= since for at in self.reinstated.values()) else since

    def extended(self, command: RerunCommand, offset: int) -> Retractions:
        """Return these retractions and those of a command at an offset of the log."""
        if isinstance(command, Retract):
            judges = {} if command.judge is None else {command.judge: offset}
            taken = {
                judge: TakenBack(offset, ids)
                for judge, ids in command.taken_back.items()
                if not _includes(self.taken_back.get(judge), ids)
            }
            return self.joined(Retractions(ids=command.judgments, judges=judges, taken_back=taken))
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
            taken_back={
                judge: _join_taken(self.taken_back.get(judge), others.taken_back.get(judge))
                for judge in sorted({*self.taken_back, *others.taken_back})
            },
        )

    def without(self, judge: str, offset: int) -> Retractions:
        """Return these retractions without those of a judge before an offset. A rerun finds them in the log again."""
        last = max(of.get(judge, -1) for of in (self.judges, self.suspended, self.reinstated))
        if judge in self.taken_back:
            last = max(last, self.taken_back[judge].offset)
        if not 0 <= last <= offset:
            return self
        return replace(
            self,
            judges=_without(self.judges, judge),
            suspended=_without(self.suspended, judge),
            reinstated=_without(self.reinstated, judge),
            taken_back={name: taken for name, taken in self.taken_back.items() if name != judge},
        )


def _latest(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: max(one.get(name, -1), other.get(name, -1)) for name in sorted({*one, *other})}


def _without(offsets: Mapping[str, int], judge: str) -> dict[str, int]:
    return {name: at for name, at in offsets.items() if name != judge}


def _includes(taken: TakenBack | None, ids: Mapping[str, int]) -> bool:
    return taken is not None and all(taken.ids.get(verdict, -1) >= at for verdict, at in ids.items())


def _join_taken(one: TakenBack | None, other: TakenBack | None) -> TakenBack:
    parts = [each for each in (one, other) if each is not None]
    return TakenBack(max(each.offset for each in parts), _latest(parts[0].ids, parts[-1].ids))


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
