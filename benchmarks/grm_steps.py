"""Steps of the online graded response model: Fisher-scaled (the default) or plain stochastic gradient steps.

One pass over comparisons that are drawn from a log without replacement, of any pairs or with a baseline (another one
for each seed). The result is Kendall's tau with the order by Expected Wins of the whole log: mean and standard error
over the seeds. The rate and the decay of `sgd` are the best of the grid on wmt13.fr-en. The other logs were kept back.

    python benchmarks/grm_steps.py --seeds 26
    python benchmarks/grm_steps.py --grid
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.data import find_log  # noqa: E402
from streams.core import kernels  # noqa: E402
from streams.core.methods.win_shares import ExpectedWins  # noqa: E402
from streams.core.models.base import JudgmentBatch, parameters_of  # noqa: E402
from streams.core.models.grm import GradedResponse  # noqa: E402
from streams.core.ranking import kendall_tau  # noqa: E402
from streams.formats import read  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

TUNED_ON = "wmt13.fr-en"
FILES = {
    TUNED_ON: "wmt13_fr-en_rank.csv.gz",
    "wmt15.en-de": "wmt15_rank.csv.gz",
    "wmt15.fr-en": "wmt15_rank.csv.gz",
    "wmt10-public.cs-en": "wmt10_rank.csv.gz",
    "wmt11-indivsystems.en-cs": "wmt11_rank.csv.gz",
}
SIZES = (1000, 6400)
STEPS: tuple[dict[str, Any], ...] = ({"step": "fisher"}, {"step": "sgd"})
GRID = [{"step": "sgd", "rate": rate, "decay": decay} for decay in (0.5, 0.75, 1.0) for rate in (0.03, 0.1, 0.3, 1.0)]


class Log(NamedTuple):
    """Each comparison twice, from both sides: system, other system, judge, segment, and -1 if the first is better."""

    rows: Ints
    gold: NDArray[np.float64]
    sizes: tuple[int, int, int]


def load(campaign: str) -> Log:
    """Read one campaign of a log."""
    names: tuple[dict[str, int], ...] = ({}, {}, {})
    systems, judges, segments = names
    rows = []
    for _, each in read(find_log(FILES[campaign])):
        if each.campaign == campaign:
            judge = judges.setdefault(each.judge, len(judges))
            segment = segments.setdefault(each.segment, len(segments))
            shown = [systems.setdefault(system, len(systems)) for system in each.systems]
            for (a, rank_a), (b, rank_b) in combinations(zip(shown, each.ranks or (), strict=True), 2):
                order = (rank_a > rank_b) - (rank_a < rank_b)
                rows += [(a, b, judge, segment, order), (b, a, judge, segment, -order)]
    table = np.array(rows, np.int64)
    wins, ties = np.zeros((2, len(systems), len(systems)), np.int64)
    for counts, order in ((wins, -1), (ties, 0)):
        found = table[table[:, 4] == order]
        np.add.at(counts, (found[:, 0], found[:, 1]), 1)
    return Log(table, ExpectedWins().score(wins, ties), (len(systems), len(judges), len(segments)))


def tau(log: Log, parameters: dict[str, Any], *, baseline: int | None, size: int, seed: int) -> float:
    """Return the tau after one pass over `size` comparisons."""
    random = np.random.default_rng([seed, size])
    a, b = log.rows[:, 0], log.rows[:, 1]
    pool = np.flatnonzero(a < b if baseline is None else b == baseline)
    rows = log.rows[random.choice(pool, min(size, len(pool)), replace=False)]
    model = GradedResponse(parameters_of(GradedResponse, parameters))
    model.grow(*log.sizes)
    model.baseline = baseline
    order = rows[:, 4]
    model.apply(
        JudgmentBatch(
            systems=rows[:, :2].reshape(-1).copy(),
            ranks=np.stack([1 + (order > 0), 1 + (order < 0)], axis=1).reshape(-1),
            starts=np.arange(0, 2 * len(rows) + 1, 2),
            judges=rows[:, 2].copy(),
            segments=rows[:, 3].copy(),
            scores=np.full(len(rows), np.nan),
        )
    )
    return kendall_tau(model.scores()[0], log.gold)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=26, help="draws per cell (default: 26)")
    parser.add_argument("--grid", action="store_true", help=f"rates and decays on {TUNED_ON}")
    options = parser.parse_args()
    kernels.compiled("grm")
    columns = [f"{mode} {size:,}" for mode in ("any pairs", "baseline") for size in SIZES]
    print(f"{'tau after ... comparisons':44}" + "".join(f"{column:>18}" for column in columns))
    for campaign in [TUNED_ON] if options.grid else FILES:
        log = load(campaign)
        for parameters in (STEPS[0], *GRID) if options.grid else STEPS:
            cells = ""
            for against in (False, True):
                for size in SIZES:
                    taus = [
                        tau(log, parameters, baseline=seed % log.sizes[0] if against else None, size=size, seed=seed)
                        for seed in range(options.seeds)
                    ]
                    error = np.std(taus, ddof=1) / np.sqrt(options.seeds)
                    cells += f"{f'{np.mean(taus):.3f} ± {error:.3f}':>18}"
            print(f"{campaign:26}{' '.join(map(str, parameters.values())):18}{cells}", flush=True)


if __name__ == "__main__":
    main()
