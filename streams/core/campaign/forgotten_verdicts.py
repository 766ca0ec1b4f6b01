"""Changed and revoked verdicts that a campaign no longer remembers. They count until it is rated again without them."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

MOST_FORGOTTEN = 10_000  # verdicts of one campaign that may wait. The state is bounded


class ForgottenVerdicts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a campaign knows of verdicts that were taken back.

    `begun` is whether a verdict was ever changed or revoked: from then on the campaign remembers its last ones.
    `waiting` has those that were not remembered, by judge (empty: any): the id, and the offset of the record that took
    it back.

    >>> forgotten = ForgottenVerdicts().added("j", "7c1f", 12)
    >>> forgotten.find("7c1f", "j"), forgotten.find("7c1f", "other"), len(forgotten)
    ('j', None, 1)
    """

    begun: bool = False
    waiting: dict[str, dict[str, int]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.waiting.values()))

    def begin(self) -> ForgottenVerdicts:
        """Return the same, after a verdict was taken back."""
        return self if self.begun else replace(self, begun=True)

    def find(self, verdict: str, judge: str) -> str | None:
        """Return the judge under whose name a verdict waits, or None if it does not wait."""
        return next((name for name in (judge, "") if verdict in self.waiting.get(name, ())), None)

    def added(self, judge: str, verdict: str, offset: int) -> ForgottenVerdicts:
        """Return the same with one more verdict, which was taken back at an offset."""
        own = {**self.waiting.get(judge, {}), verdict: offset}
        return ForgottenVerdicts(begun=True, waiting={**self.waiting, judge: own})

    def without(self, judge: str, verdict: str | None = None) -> ForgottenVerdicts:
        """Return the same without a verdict of a judge, or without all of them."""
        own = {name: at for name, at in self.waiting.get(judge, {}).items() if verdict not in (name, None)}
        others = {name: ids for name, ids in self.waiting.items() if name != judge}
        return replace(self, waiting={**others, judge: own} if own else others)
