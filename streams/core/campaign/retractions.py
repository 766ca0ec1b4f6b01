"""Retractions: what the log takes back, and the signal that a campaign has to be rated again without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from streams.errors import RecordError

if TYPE_CHECKING:
    from streams.wire.events import Retract


NO_LOG = "the log can't be read again here, and a retraction needs it"


class Retractions(Struct, frozen=True, kw_only=True):
    """Retracted judgments by id, and retracted judges by pseudonym.

    Of a judge, the judgments before an offset are retracted.
    """

    ids: tuple[str, ...] = ()
    judges: dict[str, int] = {}

    def extended(self, command: Retract, offset: int) -> Retractions:
        """Return these retractions and those of a command at an offset of the log."""
        judges = {} if command.judge is None else {command.judge: offset}
        return self.joined(Retractions(ids=command.judgments, judges=judges))

    def includes(self, others: Retractions) -> bool:
        """Return whether all of the other retractions are among these."""
        judges = all(self.judges.get(judge, -1) >= offset for judge, offset in others.judges.items())
        return judges and set(others.ids) <= set(self.ids)

    def joined(self, others: Retractions) -> Retractions:
        """Return these retractions and the others."""
        judges = dict(self.judges)
        for judge, offset in others.judges.items():
            judges[judge] = max(offset, judges.get(judge, -1))
        return Retractions(ids=tuple(dict.fromkeys((*self.ids, *others.ids))), judges=judges)

    def without(self, judge: str, offset: int) -> Retractions:
        """Return these retractions without those of a judge before an offset. A rerun finds them in the log again."""
        if not 0 <= self.judges.get(judge, -1) <= offset:
            return self
        return Retractions(ids=self.ids, judges={name: at for name, at in self.judges.items() if name != judge})


class NewRetraction(Exception):  # noqa: N818 - it names a condition
    """The log retracts something at an offset. The campaign has to be rated again, with these `retractions`."""

    def __init__(self, offset: int, retractions: Retractions) -> None:
        super().__init__()
        self.offset = offset
        self.retractions = retractions


def check_retraction(known: Retractions, offset: int, command: Retract, refusal: str | None) -> None:
    """Raise an error unless a campaign has been rated without what is retracted from the beginning.

    If there is a reason for its `refusal`, a new retraction is refused.
    """
    retractions = known.extended(command, offset)
    if retractions == known:
        return
    if refusal is not None:
        raise RecordError("refused_command", refusal, field="action")
    raise NewRetraction(offset, retractions)
