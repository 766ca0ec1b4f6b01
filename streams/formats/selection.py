"""Select a part of a log: the judgments of some judges, sources, segments, systems or tags, or of a window of time."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from streams.errors import ParameterError, suggestion
from streams.formats.unselected import UnselectedChanges
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
TAG = "tag."  # before the name of a tag
NOT = "!"  # after a name: judgments with these values are left out


@dataclass
class _Choice:
    """The chosen values of one field, or of one tag, and the values that occurred in the log."""

    field: str
    excludes: bool
    values: dict[str, None] = dataclasses.field(default_factory=dict)
    known: set[str] = dataclasses.field(default_factory=set)

    def select(self, judgment: Judgment) -> Judgment | None:
        """Return the chosen part of a judgment, or None."""
        if self.field == "system":
            return _with_systems(judgment, [system for system in judgment.systems if self._keeps(system)])
        return judgment if self._keeps(self._value(judgment)) else None

    def observe(self, judgment: Judgment) -> None:
        """Record the values of a judgment."""
        if self.field == "system":
            self.known.update(judgment.systems)
        elif (value := self._value(judgment)) is not None:
            self.known.add(value)

    def _keeps(self, value: str | None) -> bool:
        return (value in self.values) != self.excludes

    def _value(self, judgment: Judgment) -> str | None:
        if self.field.startswith(TAG):
            return (judgment.tags or {}).get(self.field.removeprefix(TAG))
        found: str | None = getattr(judgment, self.field)
        return found


class LogSelection:
    """A choice of judgments by the values of their fields. Values of one field are alternatives; all fields must match.

    With `system`, each ranking keeps only the chosen systems, and one with fewer than two of them is left out. `tag.`
    and a name selects by a tag. A `!` after a name leaves out the judgments with these values. `read` and `kept` count
    the judgments. A `window` keeps the judgments between its bounds. With times as bounds, judgments without a time are
    left out, and `untimed` counts them. `changes` has the selected verdicts that a judgment replaces which is not
    selected, unless it came after the window.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b", "c"), ranks=(1, 2, 3), at=EPOCH)
    >>> LogSelection({"judge": "j", "system": ["c", "a"]}).select(one).systems
    ('a', 'c')
    >>> LogSelection({"judge": ["i", "k"]}).select(one)
    >>> LogSelection({"tag.language!": "de"}).select(one).id
    '1'
    """

    def __init__(self, only: Only, window: LogWindow | None = None) -> None:
        self._window = window
        self.changes = UnselectedChanges()
        self._choices: dict[tuple[str, bool], _Choice] = {}
        for given, values in only.items():
            name, excludes = given.removesuffix(NOT), given.endswith(NOT)
            field = ALIASES.get(name, name)
            if field == "campaign":
                raise ParameterError("only: choose a campaign with --campaign, or with `campaigns` in Python")
            if field not in FIELDS and not (field.startswith(TAG) and field != TAG):
                raise ParameterError(f"only: no field {name!r}; {suggestion(name, (*FIELDS, *ALIASES, f'{TAG}NAME'))}")
            chosen = dict.fromkeys([values] if isinstance(values, str) else values)
            if not chosen:
                raise ParameterError(f"only: {name} has no value; name at least one")
            self._choices.setdefault((field, excludes), _Choice(field, excludes)).values.update(chosen)
        self.restart()

    @classmethod
    def of(cls, only: Only | None, window: LogWindow | None) -> LogSelection | None:
        """Return a selection, or None if the whole log is to be read."""
        return cls(only or {}, window) if only or window else None

    def restart(self) -> None:
        """Begin to count anew, for a log that is read from its beginning."""
        self.read = self.kept = self.untimed = 0
        self.changes.clear()
        self._first: datetime | None = None  # of the times of the log, if a window is given
        self._last: datetime | None = None
        for choice in self._choices.values():
            choice.known.clear()

    def select(self, judgment: Judgment) -> Judgment | None:
        """Return the selected part of a judgment, or None. Count it."""
        chosen: Judgment | None = judgment if self._is_in_window(judgment.at) else None
        is_known = self._window is None or not self._window.is_over(self.read, judgment.at)
        self.read += 1
        for choice in self._choices.values():
            choice.observe(judgment)
            chosen = chosen and choice.select(chosen)
        if is_known:
            self.changes.observe(judgment, selected=chosen is not None)
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
        return " and ".join(f"--{name}" for name in (*(["only"] if self._choices else []), *bounds))

    def check(self) -> None:
        """Raise ParameterError if a value did not occur in the log, or if no judgment was selected."""
        if not self.read:
            return
        for choice in self._choices.values():
            _check_values(choice)
        if not self.kept and self._window is not None:
            raise ParameterError(self._explain_window(self._window))
        if not self.kept:
            fields = list(dict.fromkeys(choice.field for choice in self._choices.values()))
            way_out = " together; choose fewer fields or more values" if len(fields) > 1 else "; choose more values"
            if any(choice.excludes for choice in self._choices.values()):
                way_out = "; leave out fewer values"
            elif fields == ["system"]:
                way_out = "; choose more systems, because a ranking needs two of them"
            raise ParameterError(f"only: none of {self.read:,} judgments is left by {' and '.join(fields)}{way_out}")

    def _explain_window(self, window: LogWindow) -> str:
        """Return why nothing is left of a log."""
        names = " and ".join((*dict.fromkeys(choice.field for choice in self._choices.values()), *window.bounds))
        if window.by_time and self.untimed == self.read:
            return f"{names}: no judgment of the log has a time; give a whole number, for example 1000, instead"
        times = f"; the log is from {self._first} to {self._last}" if self._first else ""
        return f"{names}: none of {self.read:,} judgments is left{times}"


def _check_values(choice: _Choice) -> None:
    """Raise ParameterError if a value did not occur in the log."""
    wanted, known, field = choice.values, choice.known, choice.field
    missing = [value for value in wanted if value not in known]
    if not missing:
        return
    if field == "judge":  # their ids are private
        raise ParameterError(
            f"only: {len(missing):,} of {len(wanted):,} judges have no judgment; the first is number "
            f"{list(wanted).index(missing[0]) + 1}. The log has {len(known):,} judges"
        )
    count = f"{len(missing):,} of {len(wanted):,} values, the first: " if len(wanted) > 1 else ""
    hint = suggestion(missing[0], known) if known else f"no judgment has a {field}"
    raise ParameterError(f"only: no judgment has this {field}: {count}{quote(missing[0])}; {hint}")


def _with_systems(judgment: Judgment, systems: list[str]) -> Judgment | None:
    """Return a judgment with some of its systems. A ranking needs two of them."""
    if len(systems) == len(judgment.systems):
        return judgment
    if judgment.ranks is None or len(systems) < 2:
        return None
    ranks = dict(zip(judgment.systems, judgment.ranks, strict=True))
    return msgspec.structs.replace(judgment, systems=tuple(systems), ranks=tuple(ranks[system] for system in systems))
