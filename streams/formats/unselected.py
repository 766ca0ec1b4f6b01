"""Verdicts that a judgment outside of a selection replaces: they do not count, as they do not in the whole log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streams.wire.events import Judgment


class UnselectedChanges:
    """The ids of these verdicts by campaign and judge, each with 0: they are left out wherever they are in the log.

    >>> from msgspec.structs import replace
    >>> from streams.wire.events import EPOCH, Judgment
    >>> first = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> changes = UnselectedChanges()
    >>> changes.observe(replace(first, id="2", replaces="1"), selected=False)
    >>> changes.covers(first), changes.covers(replace(first, judge="k"))
    (True, False)
    """

    def __init__(self) -> None:
        self.replaced: dict[str, dict[str, dict[str, int]]] = {}
        self._versions: dict[tuple[str, str, str], list[str]] = {}  # that are selected, by what they replace

    def clear(self) -> None:
        """Forget everything, because the log is read again."""
        self.replaced.clear()
        self._versions.clear()

    def observe(self, judgment: Judgment, *, selected: bool) -> None:
        """Record what a judgment replaces: a verdict, and the versions of it before this one."""
        if judgment.replaces is None:
            return
        key = (judgment.campaign, judgment.judge, judgment.replaces)
        if selected:
            self._versions.setdefault(key, []).append(judgment.id)
            return
        found = self.replaced.setdefault(judgment.campaign, {}).setdefault(judgment.judge, {})
        found.update(dict.fromkeys((judgment.replaces, *self._versions.pop(key, ())), 0))

    def covers(self, judgment: Judgment) -> bool:
        """Return whether a judgment was replaced by one that is not selected."""
        return judgment.id in self.replaced.get(judgment.campaign, {}).get(judgment.judge, {})
