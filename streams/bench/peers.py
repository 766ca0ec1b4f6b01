"""Rate comparisons in memory: the compiled TrueSkill of this package beside the packages that others use.

Each contender gets what it would get in a script: Python lists of names, or arrays of numbers. A slow one gets a prefix
of the comparisons. A package that is not installed is left out (`pip install 'judgestream[bench]'` installs all).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from streams.bench.figures import Figure
from streams.bench.measuring import installed_version, take_turns
from streams.bench.synthetic_log import SyntheticLog
from streams.core import kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Run = Callable[[], object]

SYSTEMS = 20
BETA, MARGIN = 1.118, 0.58
SLOW, VERY_SLOW = 20_000, 2_000  # comparisons for those that take more than 10 and more than 100 µs for each


@dataclass(frozen=True)
class PeerLog:
    """PeerLog as arrays and as lists. Ranks are 1 or 2, equal ranks are a tie."""

    systems: NDArray[np.int64]  # two columns
    ranks: NDArray[np.int64]
    left: list[str]
    right: list[str]
    places: list[tuple[int, int]]

    @classmethod
    def draw(cls, count: int) -> PeerLog:
        """Draw comparisons of 20 systems, about a fifth of them ties."""
        chunks = list(SyntheticLog(count, systems=SYSTEMS).pairs())
        return cls.of(np.concatenate([each[1] for each in chunks]), np.concatenate([each[2] for each in chunks]))

    @classmethod
    def of(cls, systems: NDArray[np.int64], ranks: NDArray[np.int64]) -> PeerLog:
        """Return comparisons with their lists."""
        left, right = ([f"system-{each}" for each in column] for column in systems.T.tolist())
        return cls(systems, ranks, left, right, [(a, b) for a, b in ranks.tolist()])

    def first(self, count: int) -> PeerLog:
        """Return a prefix."""
        return PeerLog(
            self.systems[:count], self.ranks[:count], self.left[:count], self.right[:count], self.places[:count]
        )


# Each of these functions prepares what its contender would have in a script, and returns the part that is timed.


def rate_arrays(log: PeerLog) -> Run:
    """Rate with the compiled kernel, from arrays."""
    return lambda: _rate(log.systems, log.ranks)


def rate_lists(log: PeerLog) -> Run:
    """Rate with the compiled kernel, from lists of names: they are numbered first."""

    def run() -> None:
        numbers: dict[str, int] = {}
        columns = [[numbers.setdefault(name, len(numbers)) for name in column] for column in (log.left, log.right)]
        _rate(np.array(columns).T, np.array(log.places))

    return run


def _rate(systems: NDArray[np.int64], ranks: NDArray[np.int64]) -> None:
    count = len(systems)
    margins = np.array([[MARGIN, 20.0], [0.0, 0.0]])  # learned, as by default
    mean, variance = np.zeros(SYSTEMS), np.ones(SYSTEMS)
    starts, judges = np.arange(0, 2 * count + 1, 2), np.zeros(count, np.int64)
    flat = (np.ascontiguousarray(each).reshape(-1) for each in (systems, ranks))
    kernels.compiled("pairs").rate_rankings(mean, variance, margins, *flat, starts, judges, BETA)


def rate_trueskill(package: Any, log: PeerLog) -> Run:
    """Rate with `rate_1vs1`."""
    table = package.TrueSkill(mu=0, sigma=1, beta=BETA, tau=0, draw_probability=0.286)

    def run() -> None:
        ratings: dict[str, Any] = {f"system-{each}": table.create_rating() for each in range(SYSTEMS)}
        for a, b, (rank_a, rank_b) in zip(log.left, log.right, log.places, strict=True):
            better, worse = (a, b) if rank_a <= rank_b else (b, a)
            pair = package.rate_1vs1(ratings[better], ratings[worse], drawn=rank_a == rank_b, env=table)
            ratings[better], ratings[worse] = pair

    return run


def rate_openskill(package: Any, log: PeerLog) -> Run:
    """Rate with Plackett-Luce, the default model of the package."""
    model = package.PlackettLuce()

    def run() -> None:
        ratings = {f"system-{each}": model.rating() for each in range(SYSTEMS)}
        for a, b, (rank_a, rank_b) in zip(log.left, log.right, log.places, strict=True):
            (ratings[a],), (ratings[b],) = model.rate([[ratings[a]], [ratings[b]]], ranks=[rank_a, rank_b])

    return run


def _winners(package: Any, log: PeerLog) -> list[Any]:
    names = {(1, 1): package.Winner.Draw, (1, 2): package.Winner.X, (2, 1): package.Winner.Y}
    return [names[places] for places in log.places]


def rate_evalica_elo(package: Any, log: PeerLog) -> Run:
    """Rate with Elo in Rust."""
    winners = _winners(package, log)
    return lambda: package.elo(log.left, log.right, winners)


def rate_evalica_bradley_terry(package: Any, log: PeerLog) -> Run:
    """Fit Bradley-Terry in Rust."""
    winners = _winners(package, log)
    return lambda: package.bradley_terry(log.left, log.right, winners)


def rate_choix(package: Any, log: PeerLog) -> Run:
    """Fit Bradley-Terry to the wins. The package has no ties, so they are left out."""
    pairs = np.where(log.ranks[:, :1] < log.ranks[:, 1:], log.systems, log.systems[:, ::-1])
    wins = pairs[log.ranks[:, 0] != log.ranks[:, 1]].tolist()
    return lambda: package.ilsr_pairwise(SYSTEMS, wins, alpha=0.01)


@dataclass(frozen=True)
class Peer:
    """A package, the module of it that rates, and how many comparisons it gets at most."""

    name: str
    package: str
    module: str
    rate: Callable[[Any, PeerLog], Run]
    most: int = 10**9


PEERS = (
    Peer("evalica Elo, lists", "evalica", "evalica", rate_evalica_elo),
    Peer("evalica Bradley-Terry, lists", "evalica", "evalica", rate_evalica_bradley_terry),
    Peer("choix Bradley-Terry, arrays", "choix", "choix", rate_choix),
    Peer("openskill Plackett-Luce, lists", "openskill", "openskill.models", rate_openskill, SLOW),
    Peer("trueskill, lists", "trueskill", "trueskill", rate_trueskill, VERY_SLOW),
)
ARRAYS, LISTS = "judgestream TrueSkill, arrays", "judgestream TrueSkill, lists"
OURS = {ARRAYS: rate_arrays, LISTS: rate_lists}


def compare(count: int, *, repeats: int, peers: Sequence[Peer] = PEERS) -> list[Figure]:
    """Return the CPU time per comparison of each contender, in one run, and that of a peer as times ours from lists."""
    log = PeerLog.draw(count)
    runs = {name: rate(log) for name, rate in OURS.items()}
    sizes, notes = dict.fromkeys(OURS, count), dict.fromkeys(OURS, "")
    for peer in peers:
        if (found := installed_version(peer.package)) is None:
            continue
        part = log.first(peer.most)
        runs[peer.name], sizes[peer.name] = peer.rate(import_module(peer.module), part), len(part.left)
        notes[peer.name] = f"{found}, prefix of {peer.most:,}" if peer.most < count else found
    timings = take_turns(runs, repeats=repeats)
    cost = {name: [timing.cpu / sizes[name] * 1e9 for timing in timings[name]] for name in runs}
    figures = [
        Figure(name=name, unit="ns of CPU per comparison", values=tuple(cost[name]), note=notes[name]) for name in runs
    ]
    ours = cost[LISTS]
    return figures + [
        Figure(
            name=f"{name}, to {LISTS}",
            unit="times the CPU",
            values=tuple(theirs / each for theirs, each in zip(cost[name], ours, strict=True)),
        )
        for name in runs
        if name not in OURS
    ]
