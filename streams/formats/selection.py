"""Select a part of a log: the judgments of some judges, sources, segments or systems, or of a window of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streams.errors import ParameterError, suggestion
from streams.formats.window import FIRST_TIME
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from streams.formats.window import LogWindow
    from streams.wire.events import Judgment

    Only = Mapping[str, str | Iterable[str]]

FIELDS = ("judge", "segment", "source", "system")
ALIASES = {"judge_type": "source"}  # the column of published logs, which is read as the source


class LogSelection:
    """A choice of judgments by the values of their fields. Values of one field are alternatives; all fields must match.

    With `system`, each ranking keeps only the chosen systems, and one with fewer than two of them is left out. `read`
    and `kept` count the judgments. A `window` keeps the judgments between its bounds. With times as bounds, judgments
    without a time are left out, and `untimed` counts them.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b", "c"), ranks=(1, 2, 3), at=EPOCH)
    >>> LogSelection({"judge": "j", "system": ["c", "a"]}).select(one).systems
    ('a', 'c')
    >>> LogSelection({"judge": ["i", "k"]}).select(one)
    """

    def __init__(self, only: Only, window: LogWindow | None = None) -> None:
        self._window = window
        self._wanted: dict[str, dict[str, None]] = {}
        for name, values in only.items():
            field = ALIASES.get(name, name)
            if field == "campaign":
                raise ParameterError("only: choose a campaign with --campaign, or with `campaigns` in Python")
            if field not in FIELDS:
                raise ParameterError(f"only: no field {name!r}; {suggestion(name, (*FIELDS, *ALIASES))}")
            chosen = dict.fromkeys([values] if isinstance(values, str) else values)
            if not chosen:
                raise ParameterError(f"only: {name} has no value; name at least one")
            self._wanted.setdefault(field, {}).update(chosen)
        self.restart()

    @classmethod
    def of(cls, only: Only | None, window: LogWindow | None) -> LogSelection | None:
        """Return a selection, or None if the whole log is to be read."""
        return cls(only or {}, window) if only or window else None

    def restart(self) -> None:
        """Begin to count anew, for a log that is read from its beginning."""
        self.read = self.kept = self.untimed = 0
        self._first: datetime | None = None  # of the times of the log, if a window is given
        self._last: datetime | None = None
        self._known: dict[str, set[str]] = {field: set() for field in self._wanted}

    def select(self, judgment: Judgment) -> Judgment | None:
        """Return the selected part of a judgment, or None. Count it."""
        chosen: Judgment | None = judgment if self._is_in_window(judgment.at) else None
        self.read += 1
        for field, wanted in self._wanted.items():
            if field == "system":
                self._known[field].update(judgment.systems)
                chosen = chosen and _with_systems(chosen, wanted)
            elif (value := getattr(judgment, field)) is None:
                chosen = None
            else:
                self._known[field].add(value)
                chosen = chosen if value in wanted else None
        self.kept += chosen is not None
        return chosen

    def batches(self, batches: Iterable[Iterable[Judgment]]) -> Iterator[list[Judgment]]:
        """Yield the selected judgments of each batch of a log. Check the selection at the end."""
        self.restart()
        for judgments in batches:
            yield [part for judgment in judgments if (part := self.select(judgment)) is not None]
        self.check()

    def _is_in_window(self, at: datetime) -> bool:
        """Return whether the next judgment is in the window, and remember the times of the log."""
        if self._window is None:
            return True
        if at < FIRST_TIME:
            self.untimed += self._window.by_time
        else:
            self._first = min(self._first or at, at)
            self._last = max(self._last or at, at)
        return self._window.includes(self.read, at)

    @property
    def options(self) -> str:
        """Return the options of a command that make this selection."""
        bounds = () if self._window is None else self._window.bounds
        return " and ".join(f"--{name}" for name in (*(["only"] if self._wanted else []), *bounds))

    def check(self) -> None:
        """Raise ParameterError if a value did not occur in the log, or if no judgment was selected."""
        if not self.read:
            return
        for field, wanted in self._wanted.items():
            known = self._known[field]
            missing = [value for value in wanted if value not in known]
            if missing:
                count = f"{len(missing):,} of {len(wanted):,} values, the first: " if len(wanted) > 1 else ""
                if field == "judge":  # their ids are private
                    raise ParameterError(
                        f"only: {len(missing):,} of {len(wanted):,} judges have no judgment; the first is number "
                        f"{list(wanted).index(missing[0]) + 1}. The log has {len(known):,} judges"
                    )
                hint = suggestion(missing[0], known) if known else f"no judgment has a {field}"
                raise ParameterError(f"only: no judgment has this {field}: {count}{quote(missing[0])}; {hint}")
        if not self.kept and self._window is not None:
            raise ParameterError(self._explain_window(self._window))
        if not self.kept:
            fields = list(self._wanted)
            way_out = " together; choose fewer fields or more values" if len(fields) > 1 else "; choose more values"
            if fields == ["system"]:
                way_out = "; choose more systems, because a ranking needs two of them"
            raise ParameterError(f"only: none of {self.read:,} judgments is left by {' and '.join(fields)}{way_out}")

    def _explain_window(self, window: LogWindow) -> str:
        """Return why nothing is left of a log."""
        names = " and ".join((*self._wanted, *window.bounds))
        if window.by_time and self.untimed == self.read:
            return f"{names}: no judgment of the log has a time; give a whole number, for example 1000, instead"
        times = f"; the log is from {self._first} to {self._last}" if self._first else ""
        return f"{names}: none of {self.read:,} judgments is left{times}"


def _with_systems(judgment: Judgment, wanted: Mapping[str, None]) -> Judgment | None:
    if judgment.ranks is None:
        return judgment if judgment.systems[0] in wanted else None
    places = [place for place, system in enumerate(judgment.systems) if system in wanted]
    if len(places) == len(judgment.systems):
        return judgment
    if len(places) < 2:
        return None
    ranks = judgment.ranks
    return msgspec.structs.replace(
        judgment,
        systems=tuple(judgment.systems[place] for place in places),
        ranks=tuple(ranks[place] for place in places),
    )
