"""The rating kernels compared with the `trueskill` package, in one run.

A row is a kind of match between 20 systems, of which a quarter are ties. Times are CPU times, the best of some rounds.
The result is the ratio to the package on the same kind of match.

    python benchmarks/kernels.py --rounds 5
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import trueskill

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from streams.core import kernels  # noqa: E402
from streams.core.campaign.bootstrap import Bootstrap  # noqa: E402
from streams.core.models import JudgmentBatch, PairParameters  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SYSTEMS, BETA, MARGIN = 20, 1.118, 0.58
TABLE = trueskill.TrueSkill(mu=0, sigma=1, beta=BETA, tau=0, draw_probability=0.286)


class Log(NamedTuple):
    """Return rankings with a number of systems each, as rows."""

    systems: NDArray[np.int64]
    ranks: NDArray[np.int64]


class Variant(NamedTuple):
    """A way to rate a log; `ratio_to` names the one that it is measured against, `goal` the ratio to reach."""

    name: str
    ways: int
    matches: int
    rate: Callable[[Log], object]
    ratio_to: str | None = None
    goal: str = ""


def rankings(matches: int, ways: int) -> Log:
    random = np.random.default_rng(ways)
    systems = np.ascontiguousarray(random.random((matches, SYSTEMS)).argsort(axis=1)[:, :ways])
    seen = np.round((0.1 * systems + random.normal(size=systems.shape)) * 1.1).astype(np.int64)
    return Log(systems, seen - seen.min() + 1)


def by_package(log: Log) -> None:
    ratings = [TABLE.create_rating() for _ in range(SYSTEMS)]
    for systems, ranks in zip(log.systems.tolist(), log.ranks.tolist(), strict=True):
        groups = TABLE.rate([(ratings[i],) for i in systems], ranks=ranks)
        for i, (rating,) in zip(systems, groups, strict=True):
            ratings[i] = rating


def by_package_in_pairs(log: Log) -> None:
    ratings = [TABLE.create_rating() for _ in range(SYSTEMS)]
    for (i, j), (r_i, r_j) in zip(log.systems.tolist(), log.ranks.tolist(), strict=True):
        if r_i > r_j:
            i, j = j, i
        ratings[i], ratings[j] = trueskill.rate_1vs1(ratings[i], ratings[j], drawn=r_i == r_j, env=TABLE)


def by_kernel(rate: Any) -> Callable[[Log], object]:
    def run(log: Log) -> None:
        matches, ways = log.systems.shape
        starts = np.arange(0, matches * ways + 1, ways)
        judges = np.zeros(matches, np.int64)
        mean, variance = np.zeros(SYSTEMS), np.ones(SYSTEMS)
        margins = np.array([[MARGIN, 20.0], [0.0, 0.0]])  # learned, as by default
        rate(mean, variance, margins, log.systems.reshape(-1), log.ranks.reshape(-1), starts, judges, BETA)

    return run


def by_replicas(log: Log) -> None:
    """Rate 200 replicas of an online bootstrap, their weights drawn from the keys of the judgments."""
    matches, ways = log.systems.shape
    batch = JudgmentBatch(
        systems=log.systems.reshape(-1),
        ranks=log.ranks.reshape(-1),
        starts=np.arange(0, matches * ways + 1, ways),
        judges=np.zeros(matches, np.int64),
        segments=np.zeros(matches, np.int64),
        scores=np.full(matches, np.nan),
    )
    replicas = Bootstrap(200, PairParameters(beta=BETA, margin=MARGIN))
    replicas.grow(SYSTEMS)
    replicas.apply(batch, np.arange(matches), ["judge"])


def variants() -> list[Variant]:
    plain, compiled = kernels.plain, kernels.compiled
    two, five = "two-way, package", "five-way, package"
    return [
        Variant(two, 2, 1_000, by_package_in_pairs),
        Variant("two-way, plain", 2, 10_000, by_kernel(plain("pairs").rate_rankings), two),
        Variant("two-way, compiled", 2, 200_000, by_kernel(compiled("pairs").rate_rankings), two, "2,000"),
        Variant("two-way, 200 replicas", 2, 5_000, by_replicas, two, "15,000 ns"),
        Variant(five, 5, 150, by_package),
        Variant("five-way match, plain", 5, 200, by_kernel(plain("freeforall").rate_matches), five),
        Variant("five-way match, compiled", 5, 20_000, by_kernel(compiled("freeforall").rate_matches), five, "20"),
        Variant("five-way as ten pairs, compiled", 5, 20_000, by_kernel(compiled("pairs").rate_rankings), five),
    ]


def measure(variants: list[Variant], rounds: int) -> dict[str, float]:
    """Return the CPU time of one match by each variant, in its best round; they take turns under the machine's load."""
    logs = [rankings(variant.matches, variant.ways) for variant in variants]
    for variant in variants:
        variant.rate(rankings(2, variant.ways))  # compiles
    best = {variant.name: float("inf") for variant in variants}
    for _ in range(rounds):
        for variant, log in zip(variants, logs, strict=True):
            start = time.process_time()
            variant.rate(log)
            took = (time.process_time() - start) / variant.matches
            best[variant.name] = min(best[variant.name], took)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8, help="rounds of each variant (default: %(default)s)")
    rounds = parser.parse_args().rounds
    listed = variants()
    times = measure(listed, rounds)
    print(f"{'':34}{'ns a match':>12}{'ratio':>10}{'goal':>12}")
    for variant in listed:
        took = times[variant.name]
        ratio = f"{times[variant.ratio_to] / took:,.1f}" if variant.ratio_to else "1"
        print(f"{variant.name:34}{took * 1e9:12,.0f}{ratio:>10}{variant.goal:>12}")


if __name__ == "__main__":
    main()
