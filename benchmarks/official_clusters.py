"""Compare the clusters of `rank` with the official ones of WMT15: as they were, as they are now, and for other judges.

Before, the rank ranges came from the posterior of the online model, in closed form. Now they come from groups of
judgments. `pairs` is the share of pairs of systems on which the rank ranges agree whether they are separated, and
`Rand` the share on which the clusters agree whether they are the same.

    python benchmarks/official_clusters.py
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.clusters import official  # noqa: E402
from benchmarks.data import find_log  # noqa: E402
from streams.core.ranking import PosteriorScores, clusters, rank_scores  # noqa: E402
from streams.formats import read  # noqa: E402
from streams.offline.planning import plan_ranking  # noqa: E402
from streams.offline.rating import rate  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.campaign import Campaign
    from streams.wire.events import Row

WAYS = ("online posterior", "groups by judgment", "groups by judge")


def before(campaign: Campaign) -> tuple[Row, ...]:
    """Return the rows as `rank` had them: ranges in closed form, from the online state."""
    ranked = rank_scores("closed", PosteriorScores(*campaign.model.scores()))
    names = campaign.tables.systems.names
    return ranked.rows(names, campaign.tables.system_judgments[: len(names)].tolist())


def for_other_judges(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows with the ranges and the clusters that hold for other judges. The log must have enough judges."""
    import numpy as np
    from msgspec.structs import replace

    best, worst = (
        np.array([getattr(row, name) for row in rows], np.int64) for name in ("judge_rank_low", "judge_rank_high")
    )
    return tuple(
        replace(row, rank_low=int(low), rank_high=int(high), cluster=int(cluster))
        for row, low, high, cluster in zip(rows, best, worst, clusters(best, worst), strict=True)
    )


def pair_agreement(ours: Sequence[Row], theirs: Sequence[Row]) -> tuple[float, float]:
    """Return the share of pairs that are separated alike by their rank ranges, and by their clusters (Rand 1971)."""
    mine, other = ({row.system: row for row in rows} for rows in (ours, theirs))
    pairs = list(combinations(sorted(mine), 2))
    apart = [_apart(mine[a], mine[b]) == _apart(other[a], other[b]) for a, b in pairs]
    same = [(mine[a].cluster == mine[b].cluster) == (other[a].cluster == other[b].cluster) for a, b in pairs]
    return sum(apart) / len(pairs), sum(same) / len(pairs)


def _apart(a: Row, b: Row) -> bool:
    return a.rank_high < b.rank_low or b.rank_high < a.rank_low


def main() -> None:
    published = official(find_log("wmt15_official"))
    log = [entry.judgment for entry in read(find_log("wmt15_rank.csv.gz"))]
    found = rate([log], plan_ranking("trueskill").settings, only=sorted(published)).campaigns
    print(f"{'':<14}{'official':>9}" + "".join(f"{way:>28}" for way in WAYS))
    print(f"{'':<14}{'clusters':>9}" + f"{'clusters   pairs    Rand':>28}" * len(WAYS))
    sums = [[0.0, 0.0, 0.0] for _ in WAYS]
    total = 0
    for name, theirs in published.items():
        rows = found[name].leaderboard().rows
        total += theirs[-1].cluster
        line = f"{name:<14}{theirs[-1].cluster:>9}"
        for k, ours in enumerate((before(found[name]), rows, for_other_judges(rows))):
            pairs, rand = pair_agreement(ours, theirs)
            sums[k] = [each + more for each, more in zip(sums[k], (ours[-1].cluster, pairs, rand), strict=True)]
            line += f"{ours[-1].cluster:>12}{pairs:>8.3f}{rand:>8.3f}"
        print(line)
    means = "".join(f"{a:>12.0f}{b / len(published):>8.3f}{c / len(published):>8.3f}" for a, b, c in sums)
    print(f"{'sum and mean':<14}{total:>9}{means}")


if __name__ == "__main__":
    main()
