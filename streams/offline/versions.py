"""The versions in force of a log in memory: a judgment that a later one replaces does not count."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Judgment


class Versions(NamedTuple):
    """The judgments of a campaign that count, and those that are rejected: they replace one of another judge."""

    in_force: list[Judgment]
    rejected: list[Judgment]


def find_versions(judgments: Sequence[Judgment]) -> Versions:
    """Return which judgments of one campaign count if judges changed verdicts, as `rank` counts them.

    The ids are distinct. Of several versions that replace the same judgment, the last one counts.

    >>> from msgspec.structs import replace
    >>> from streams.wire.events import EPOCH, Judgment
    >>> first = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> second = replace(first, id="2", ranks=(2, 1), replaces="1")
    >>> found = find_versions([first, second, replace(second, id="3", judge="k")])
    >>> [each.id for each in found.in_force], [each.id for each in found.rejected]
    (['2'], ['3'])
    """
    if all(each.replaces is None for each in judgments):
        return Versions(list(judgments), [])
    judges: dict[str, str] = {}  # of the verdicts so far
    last: dict[tuple[str, str], str] = {}  # the last version that a judge made of a verdict
    rejected = []
    for each in judgments:
        if each.replaces is not None:
            if judges.get(each.replaces, each.judge) != each.judge:
                rejected.append(each)
                continue
            last[each.judge, each.replaces] = each.id
        judges[each.id] = each.judge
    in_force = [
        each
        for each in judgments
        if each.id in judges
        and (each.judge, each.id) not in last
        and (each.replaces is None or last[each.judge, each.replaces] == each.id)
    ]
    return Versions(in_force, rejected)
