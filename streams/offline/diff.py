"""Compare two rankings in a script or a notebook, campaign by campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.errors import ParameterError
from streams.offline.dataframes import to_dataframe
from streams.reports.board_diff import compare_boards
from streams.reports.diff_text import diff_as_text
from streams.reports.notes import board_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

    from streams.offline.ranking_result import Ranking
    from streams.reports.board_diff import BoardDiff, SystemDiff
    from streams.wire.events import Leaderboard

COLUMNS = ("rank", "rank_low", "rank_high", "cluster", "score", "deviation", "judgments")


@dataclass(frozen=True)
class RankingDiff:
    """The differences of two rankings, one per campaign, and the campaigns of one ranking only."""

    campaigns: tuple[BoardDiff, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n\n".join([*map(diff_as_text, self.campaigns), *self.unmatched])

    @property
    def unmatched(self) -> list[str]:
        """Return sentences on the campaigns that are in one ranking only."""
        sides = (("first", self.only_before), ("second", self.only_after))
        return [f"Only the {side} has: {', '.join(names)}." for side, names in sides if names]

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with one row per system and campaign. This needs the extra `pandas`."""
        return to_dataframe([_plain(each, diff) for diff in self.campaigns for each in diff.systems])


def diff(before: Ranking, after: Ranking) -> RankingDiff:
    """Compare two rankings. Campaigns are matched by name; two rankings of one campaign each are compared in any case.

    >>> from streams.offline.ranking import rank
    >>> from streams.wire.events import EPOCH, Judgment
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(2, 1), at=EPOCH)
    >>> [each.moved for each in diff(rank([one]), rank([one])).campaigns[0].systems]
    [0, 0]
    """
    return diff_leaderboards(before.leaderboards, after.leaderboards)


def diff_leaderboards(before: Sequence[Leaderboard], after: Sequence[Leaderboard]) -> RankingDiff:
    """Compare leaderboards of the same campaign. Raise ParameterError if there are none."""
    if len(before) == len(after) == 1:
        return RankingDiff((compare_boards(before[0], after[0]),))
    old, new = ({board_title(board): board for board in boards} for boards in (before, after))
    common = sorted(old.keys() & new.keys())
    if not common:
        first, second = (", ".join(sorted(names)[:10]) or "none" for names in (old, new))
        raise ParameterError(f"no campaign is in both; the first has {first}, and the second has {second}")
    return RankingDiff(
        tuple(compare_boards(old[name], new[name]) for name in common),
        only_before=tuple(sorted(old.keys() - new.keys())),
        only_after=tuple(sorted(new.keys() - old.keys())),
    )


def _plain(system: SystemDiff, diff: BoardDiff) -> dict[str, object]:
    values = {
        f"{name}_{side}": None if row is None else getattr(row, name)
        for name in COLUMNS
        for side, row in (("before", system.before), ("after", system.after))
    }
    facts = {"moved": system.moved, "apart": system.apart, "real": system.real}
    return {"campaign": diff.after.campaign, "system": system.system, **values, **facts}
