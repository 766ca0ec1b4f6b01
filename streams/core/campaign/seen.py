"""The ids that a campaign has seen: exactly the last ones, whatever the sizes of the batches."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from streams.wire.events import Judgment
from streams.wire.id_text import IdText
from streams.wire.scanner import ScannedIds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.wire.events import Command
    from streams.wire.scanner import JudgmentColumns

# Judgments of a batch from which hashes detect duplicates: their tables take 4 MB, which few judgments do not repay.
WORTH_HASHING = 1000
# Batches without so many judgments after which the hashes are dropped.
QUIET_BATCHES = 100


class SeenIds:
    """An ordered set of the last `kept` ids. The oldest ids are forgotten first.

    >>> seen = SeenIds(2)
    >>> for name in ("a", "b", "c"):
    ...     seen.add(name)
    >>> "a" in seen, "c" in seen, seen.drain_changes().ids()
    (False, True, ('b', 'c'))
    """

    def __init__(self, kept: int, known: Iterable[str] = ()) -> None:
        self.kept = kept
        self._order: deque[str] = deque(known, maxlen=kept)
        self._ids = set(self._order)
        self._new: list[IdText | JudgmentColumns] = []  # since the last call of `drain_changes`
        self._scanned: ScannedIds | None = None
        self._is_stored = False  # of a log in a file, only hashes are kept
        self._quiet = 0  # calls of `drain_changes` since the last scanned judgments

    def __contains__(self, judgment_id: str) -> bool:
        self._read_scanned()
        return judgment_id in self._ids

    def has_any(self, ids: Iterable[str]) -> bool:
        """Return whether any of these ids is remembered."""
        self._read_scanned()
        return not self._ids.isdisjoint(ids)

    def add(self, judgment_id: str) -> None:
        """Remember an id that is new."""
        self.add_all((judgment_id,))

    def add_all(self, ids: Sequence[str]) -> None:
        """Remember ids that are new and distinct."""
        self._read_scanned()
        if self._scanned is not None:
            self._scanned.add_texts(ids)
        self._append(ids)
        self._new.append(IdText.of(ids))

    def add_scanned(self, columns: JudgmentColumns) -> bool:
        """Remember the ids of scanned judgments if all are surely new and distinct. Return whether they are."""
        if self._scanned is None and self._is_stored and len(columns) < WORTH_HASHING:
            ids = columns.ids()
            distinct = set(ids)
            if len(distinct) < len(ids) or not self._ids.isdisjoint(distinct):
                return False
            self._append(ids)
        else:
            if self._scanned is None:
                self._scanned = ScannedIds(self.kept, known=self._order)
            if not self._scanned.add_if_new(columns):
                return False
            self._quiet = 0
        self._new.append(columns)  # its ids are copied only if they are stored
        return True

    def drain_changes(self) -> IdText:
        """Return the remembered ids that were added since the last call, oldest first."""
        texts = [each if isinstance(each, IdText) else each.id_text for each in self._new]
        new = IdText.join(texts).last(self.kept) if texts else IdText()
        self._is_stored = True
        self._quiet += 1
        if self._scanned is not None and self._quiet > QUIET_BATCHES:
            self._read_scanned()
            self._scanned = None
        self.discard_changes()
        return new

    def discard_changes(self) -> None:
        """Forget which ids were added since the last call of `drain_changes`."""
        self._new = []

    def _read_scanned(self) -> None:
        if self._scanned is not None:
            for ids in self._scanned.drain_texts():
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
