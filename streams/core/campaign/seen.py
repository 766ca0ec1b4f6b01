"""The ids that a campaign has seen: exactly the last ones, whatever the sizes of the batches."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from streams.wire.events import Judgment
from streams.wire.scanner import ScannedIds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.wire.events import Command
    from streams.wire.scanner import JudgmentColumns


class SeenIds:
    """An ordered set of the last `kept` ids. The oldest ids are forgotten first.

    >>> seen = SeenIds(2)
    >>> for name in ("a", "b", "c"):
    ...     seen.add(name)
    >>> "a" in seen, "c" in seen, seen.drain_changes()
    (False, True, ('b', 'c'))
    """

    def __init__(self, kept: int, known: Iterable[str] = ()) -> None:
        self.kept = kept
        self._order: deque[str] = deque(known, maxlen=kept)
        self._ids = set(self._order)
        self._new = 0
        self._scanned: ScannedIds | None = None  # of a log that is read from a file
        self._is_stored = False  # a store needs the texts of scanned ids too

    def __contains__(self, judgment_id: str) -> bool:
        if self._scanned is not None:
            self._read_scanned(self._scanned)
        return judgment_id in self._ids

    def has_any(self, ids: Iterable[str]) -> bool:
        """Return whether any of these ids is remembered."""
        if self._scanned is not None:
            self._read_scanned(self._scanned)
        return not self._ids.isdisjoint(ids)

    def add(self, judgment_id: str) -> None:
        """Remember an id that is new."""
        self.add_all((judgment_id,))

    def add_all(self, ids: Sequence[str]) -> None:
        """Remember ids that are new and distinct."""
        if self._scanned is not None:
            self._read_scanned(self._scanned)
            self._scanned.add_texts(ids)
        self._append(ids)
        self._new += len(ids)

    def add_scanned(self, columns: JudgmentColumns) -> bool:
        """Remember the ids of scanned judgments if all are surely new and distinct. Return whether they are."""
        if self._scanned is None and self._is_stored:
            ids = columns.ids()
            distinct = set(ids)
            if len(distinct) < len(ids) or not self._ids.isdisjoint(distinct):
                return False
            self.add_all(ids)
            return True
        if self._scanned is None:
            self._scanned = ScannedIds(self.kept, known=self._order)
        if not self._scanned.add_if_new(columns):
            return False
        self._new += len(columns)
        return True

    def drain_changes(self) -> tuple[str, ...]:
        """Return the remembered ids that were added since the last call, oldest first."""
        if self._scanned is not None:
            self._read_scanned(self._scanned)
        latest = list(islice(reversed(self._order), self._new))
        self._new, self._is_stored = 0, True
        return tuple(reversed(latest))

    def discard_changes(self) -> None:
        """Forget which ids were added since the last call of `drain_changes`."""
        self._new = 0

    def _read_scanned(self, scanned: ScannedIds) -> None:
        for ids in scanned.drain_texts():
            self._append(ids)

    def _append(self, ids: Sequence[str]) -> None:
        excess = len(self._order) + len(ids) - self.kept
        if excess > 0:
            self._ids.difference_update(islice(self._order, excess))
        self._order.extend(ids)
        self._ids.update(ids[-self.kept :])


def seen_id(event: Judgment | Command) -> str:
    """Return the id by which a duplicate is detected. Commands and judgments may have the same ids."""
    return event.id if isinstance(event, Judgment) else command_key(event.id)


def command_key(command: str) -> str:
    """Return the id by which a command is remembered."""
    return f"command:{command}"
