"""Select a part of a log: the judgments of some judges, sources, segments or systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streams.errors import ParameterError, suggestion
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from streams.wire.events import Judgment

    Only = Mapping[str, str | Iterable[str]]

FIELDS = ("judge", "segment", "source", "system")
ALIASES = {"judge_type": "source"}  # the column of published logs, which is read as the source


class LogSelection:
    """A choice of judgments by the values of their fields. Values of one field are alternatives; all fields must match.

    With `system`, each ranking keeps only the chosen systems, and one with fewer than two of them is left out. `read`
    and `kept` count the judgments.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b", "c"), ranks=(1, 2, 3), at=EPOCH)
    >>> LogSelection({"judge": "j", "system": ["c", "a"]}).select(one).systems
    ('a', 'c')
    >>> LogSelection({"judge": ["i", "k"]}).select(one)
    """

    def __init__(self, only: Only) -> None:
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

    def restart(self) -> None:
        """Begin to count anew, for a log that is read from its beginning."""
        self.read = self.kept = 0
        self._known: dict[str, set[str]] = {field: set() for field in self._wanted}

    def select(self, judgment: Judgment) -> Judgment | None:
        """Return the selected part of a judgment, or None. Count it."""
        self.read += 1
        chosen: Judgment | None = judgment
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
        if not self.kept:
            fields = list(self._wanted)
            way_out = " together; choose fewer fields or more values" if len(fields) > 1 else "; choose more values"
            if fields == ["system"]:
                way_out = "; choose more systems, because a ranking needs two of them"
            raise ParameterError(f"only: none of {self.read:,} judgments is left by {' and '.join(fields)}{way_out}")


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
