"""Compare the clusters of `rank` with the official ones of WMT15: as they were, as they are now, and for other judges.

Before, the rank ranges came from the posterior of the online model, in closed form. Now they come from groups of
judgments. The published clusters come from runs on the same comparisons, without resampling. Those with resampling say
more about what another sample of comparisons would give. `pairs` is the share of pairs of systems on which the rank
ranges agree whether they are separated, and `Rand` the share on which the clusters agree whether they are the same.

    python benchmarks/official_clusters.py --runs 1000
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from msgspec.structs import replace  # noqa: E402

from benchmarks.clusters import official  # noqa: E402
from benchmarks.data import find_log  # noqa: E402
from streams.core.ranking import PosteriorScores, rank_scores  # noqa: E402
from streams.formats import read  # noqa: E402
from streams.offline.planning import plan_ranking  # noqa: E402
from streams.offline.rating import rate  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    solid = np.cumsum([row.line_above == "judges" for row in rows])
    return tuple(
        replace(row, rank_low=row.judge_rank_low or 0, rank_high=row.judge_rank_high or 0, cluster=1 + int(lines))
        for row, lines in zip(rows, solid, strict=True)
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


def print_table(
    title: str, official: Mapping[str, Sequence[Row]], boards: Mapping[str, Sequence[Sequence[Row]]]
) -> None:
    """Print how far each way to rank agrees with the official clusters, by campaign and on average."""
    print(f"\n{title}")
    print(f"{'':<14}{'official':>9}" + "".join(f"{way:>28}" for way in WAYS))
    print(f"{'':<14}{'clusters':>9}" + f"{'clusters   pairs    Rand':>28}" * len(WAYS))
    sums = [[0.0, 0.0, 0.0] for _ in WAYS]
    for name, theirs in official.items():
        line = f"{name:<14}{theirs[-1].cluster:>9}"
        for k, ours in enumerate(boards[name]):
            pairs, rand = pair_agreement(ours, theirs)
            sums[k] = [each + more for each, more in zip(sums[k], (ours[-1].cluster, pairs, rand), strict=True)]
            line += f"{ours[-1].cluster:>12}{pairs:>8.3f}{rand:>8.3f}"
        print(line)
    means = "".join(f"{a:>12.0f}{b / len(official):>8.3f}{c / len(official):>8.3f}" for a, b, c in sums)
    print(f"{'sum and mean':<14}{sum(rows[-1].cluster for rows in official.values()):>9}{means}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="runs of the official procedure with resampling")
    options = parser.parse_args()
    published = official(find_log("wmt15_official"))
    log = [entry.judgment for entry in read(find_log("wmt15_rank.csv.gz"))]
    found = rate([log], plan_ranking("trueskill").settings, only=sorted(published)).campaigns
    boards, resampled = {}, {}
    for name in published:
        rows, counts = found[name].leaderboard().rows, found[name].tables.pair_counts()
        boards[name] = before(found[name]), rows, for_other_judges(rows)
        ranked = rank_scores("wmt", counts, runs=options.runs)
        resampled[name] = ranked.rows(counts.systems, counts.judgments.tolist())
    print_table("As published: the official procedure without resampling", published, boards)
    print_table(f"The official procedure with resampling, as in WMT16, {options.runs:,} runs", resampled, boards)


if __name__ == "__main__":
    main()
