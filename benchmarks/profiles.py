"""Which beta and margin predict the real logs best? The prequential log-loss of TrueSkill over a grid.

Every ranking is predicted, pair by pair, before it is learned. The loss is the mean of -log P over the pairs. Knowing
nothing costs log 3 = 1.0986. The deviation of the prior is the unit: to scale it together with beta and margin scales
all ratings and changes no prediction.

    python benchmarks/profiles.py
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.data import DATA  # noqa: E402
from streams import formats  # noqa: E402
from streams.core import kernels  # noqa: E402
from streams.core.campaign.names import NameIndex  # noqa: E402
from streams.core.models import PairParameters  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from streams.wire.events import Judgment

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FILES = {
    "wmt13_fr-en_rank.csv.gz": ("wmt13.fr-en",),
    "wmt15_rank.csv.gz": (),  # all ten pairs
    "llmfao_crowd.csv.gz": (),
    "wmt10_rank.csv.gz": ("wmt10.en-cs", "wmt10.es-en", "wmt10-public.cs-en", "wmt10-public.de-en"),
    "wmt11_rank.csv.gz": ("wmt11-indivsystems.en-cs", "wmt11-indivsystems.de-en", "wmt11-combosystems.en-cs"),
}
BETAS = (0.7, 0.85, 1.0, 1.118, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 4.0, 5.0)
# Of beta, because that ratio is what decides how many ties are expected.
MARGINS = (0.2, 0.3, 0.4, 0.45, 0.475, 0.5, 0.525, 0.55, 0.575, 0.6, 0.7, 0.8)


class Log(NamedTuple):
    """A log on arrays."""

    name: str
    systems: Ints
    ranks: Ints
    starts: Ints

    @property
    def size(self) -> int:
        return int(self.systems.max()) + 1

    @property
    def pairs(self) -> int:
        sizes = np.diff(self.starts)
        return int((sizes * (sizes - 1) // 2).sum())


def read(data: Path) -> list[Log]:
    logs = []
    for file, wanted in FILES.items():
        rankings: dict[str, list[Judgment]] = defaultdict(list)
        for entry in formats.read(data / file):
            if not wanted or entry.judgment.campaign in wanted:
                rankings[entry.judgment.campaign].append(entry.judgment)
        logs += [on_arrays(name, judgments) for name, judgments in sorted(rankings.items())]
    return logs


def on_arrays(name: str, judgments: list[Judgment]) -> Log:
    names = NameIndex()
    return Log(
        name=name,
        systems=np.array([names.add(system) for judgment in judgments for system in judgment.systems], np.int64),
        ranks=np.array([rank for judgment in judgments for rank in judgment.ranks or ()], np.int64),
        starts=np.cumsum([0, *(len(judgment.systems) for judgment in judgments)]),
    )


def loss(log: Log, *, deviation: float, beta: float, margin: float) -> float:
    mean, variance = np.zeros(log.size), np.full(log.size, deviation**2, np.float64)
    learn = kernels.compiled("prequential").learn_prequentially
    fixed, judges = np.array([[margin, np.inf]]), np.zeros(len(log.starts) - 1, np.int64)
    return float(learn(mean, variance, fixed, log.systems, log.ranks, log.starts, judges, beta)) / log.pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the logs (default: %(default)s)")
    logs = read(parser.parse_args().data)
    ours_now = PairParameters()
    unit = ours_now.deviation
    losses = np.array(
        [[[loss(log, deviation=unit, beta=b, margin=b * m) for m in MARGINS] for b in BETAS] for log in logs]
    )
    ours = np.array([loss(log, deviation=unit, beta=ours_now.beta, margin=ours_now.margin) for log in logs])
    print(f"mean loss of {len(logs)} logs by beta (down) and margin / beta (across)")
    print("        " + "".join(f"{m:8.4g}" for m in MARGINS))
    for b, row in zip(BETAS, losses.mean(axis=0), strict=True):
        print(f"{b:8.4g}" + "".join(f"{value:8.4f}" for value in row))
    print(f"\n{'log':28}{'pairs':>8}{'best':>9}{'beta':>7}{'margin':>8}{'default':>9}{'costs':>9}")
    for log, table, own in zip(logs, losses, ours, strict=True):
        show(log.name, log.pairs, table, own)
    show("the mean", sum(log.pairs for log in logs), losses.mean(axis=0), ours.mean())


def show(name: str, pairs: int, table: Floats, own: float) -> None:
    b, m = np.unravel_index(np.argmin(table), table.shape)
    beta, best = BETAS[b], table[b, m]
    print(f"{name:28}{pairs:8}{best:9.4f}{beta:7.4g}{beta * MARGINS[m]:8.4g}{own:9.4f}{own - best:9.4f}")


if __name__ == "__main__":
    main()
