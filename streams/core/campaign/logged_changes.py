"""Changed verdicts of a whole log that is rated twice: the first time to find them, then without earlier versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Collection

    from streams.wire.events import Judgment


def other_judge(verdict: str) -> RecordError:
    """Return the error of a judgment that replaces a verdict of another judge."""
    message = f"the judgment {quote(verdict)} is of another judge; a judge can change only their own verdicts"
    return RecordError("other_judge", message, field="replaces")


class LoggedChanges:
    """Who changed which verdict: `last` has the place of the last change by judge and id, or -1 if it was rejected.

    Whose a verdict is can be known only if the log is rated once more with the ids of all verdicts that are replaced.
    """

    def __init__(self) -> None:
        self.last: dict[str, dict[str, int]] = {}
        self._judges: dict[str, str] = {}  # of verdicts that are replaced

    def check(self, verdict: str, judge: str) -> None:
        """Raise RecordError if a judge changes a verdict that is of another one."""
        self.last.setdefault(judge, {}).setdefault(verdict, -1)
        if self._judges.get(verdict, judge) != judge:
            raise other_judge(verdict)

    def add(self, judgment: Judgment, judge: str, offset: int, *, replaced: Collection[str]) -> None:
        """Add a judgment that was not rejected. `replaced` has the ids of verdicts that are known to be replaced."""
        if judgment.replaces is not None:
            self.last[judge][judgment.replaces] = offset
        if judgment.id in replaced:
            self._judges[judgment.id] = judge
