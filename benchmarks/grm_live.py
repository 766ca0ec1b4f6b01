"""Order after so many requested judgments: GRM pairwise and against a baseline, and TrueSkill, on real logs.

A campaign sends its requests, and a log answers: a judgment of the requested pair on the requested segment, drawn with
replacement. If the log has the pair on other segments only, one of these is drawn, with its own segment. Eight requests
are outstanding, and the oldest is answered first. The result is Kendall's tau between the leaderboard and the order by
Expected Wins of the whole log, the same for every contender: mean and standard error over the seeds. `round robin` is
the same model without requests: the systems meet the baseline in turn.

Each seed has another baseline, good or bad, and the same random numbers for every contender. So the contenders differ
less within a seed than between seeds. The last line of a log is the mean of `active` minus `round robin` over the
seeds, with the standard error of these differences.

    python benchmarks/grm_live.py --seeds 200
    python benchmarks/grm_live.py --seeds 400 --marks 1000 --contenders active "round robin"
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.data import find_log  # noqa: E402
from streams.core import kernels  # noqa: E402
from streams.core.campaign.campaign import Campaign  # noqa: E402
from streams.core.methods.win_shares import ExpectedWins  # noqa: E402
from streams.core.ranking.correlation import kendall_tau  # noqa: E402
from streams.formats import read  # noqa: E402
from streams.wire.events import EPOCH, CampaignSettings, Create, Judgment  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

TUNED_ON = ("wmt13.fr-en", "wmt15.en-de")  # the policy was chosen on these logs, the others were kept back
FILES = {
    "wmt13.fr-en": "wmt13_fr-en_rank.csv.gz",
    "wmt15.en-de": "wmt15_rank.csv.gz",
    "wmt10-public.cs-en": "wmt10_rank.csv.gz",
    "wmt11-indivsystems.en-cs": "wmt11_rank.csv.gz",
    "wmt15.de-en": "wmt15_rank.csv.gz",
}
MARKS = (300, 1000, 3000)
CONTENDERS: Mapping[str, dict[str, Any]] = {
    "trueskill": {"model": "trueskill"},
    "any pairs": {"model": "grm"},
    "round robin": {"model": "grm", "baseline": True, "outstanding": 0},
    "active": {"model": "grm", "baseline": True},
}
COMPARED = ("active", "round robin")


@dataclass(frozen=True)
class Oracle:
    """The judgments of a log, by pair and by pair and segment, and the order that all of them give."""

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    gold: NDArray[np.float64]
    answers: Mapping[tuple[str, ...], list[tuple[str, str, int]]]  # judge, segment, order; also by pair and segment

    def answer(self, one: str, other: str, segment: str | None, draw: float) -> tuple[str, str, int]:
        """Return a judgment of one against the other, on the segment if there is any, by a draw from [0, 1).

        They are sorted from wins to losses, so the same draw has a similar outcome on two segments.
        """
        found = self.answers.get((one, other, segment or ""), ()) or self.answers[one, other]
        return found[int(draw * len(found))]


@cache
def load(campaign: str) -> Oracle:
    """Read one campaign of a log."""
    answers: dict[tuple[str, ...], list[tuple[str, str, int]]] = {}
    for _, judgment in read(find_log(FILES[campaign])):
        if judgment.campaign == campaign:
            ranked = zip(judgment.systems, judgment.ranks or (), strict=True)
            for (a, rank_a), (b, rank_b) in combinations(ranked, 2):
                order = (rank_a > rank_b) - (rank_a < rank_b)
                for one, other, sign in ((a, b, order), (b, a, -order)):
                    answer = (judgment.judge, judgment.segment, sign)
                    answers.setdefault((one, other), []).append(answer)
                    answers.setdefault((one, other, judgment.segment), []).append(answer)
    for found in answers.values():
        found.sort(key=itemgetter(2))
    pairs = {key: found for key, found in answers.items() if len(key) == 2}
    systems = tuple(sorted({key[0] for key in pairs}))
    wins, ties = np.zeros((2, len(systems), len(systems)), np.int64)
    for (one, other), found in pairs.items():
        place = systems.index(one), systems.index(other)
        wins[place] = sum(order < 0 for _, _, order in found)
        ties[place] = sum(order == 0 for _, _, order in found)
    segments = tuple(sorted({segment for found in pairs.values() for _, segment, _ in found}))
    return Oracle(systems, segments, ExpectedWins().score(wins, ties), answers)


def play(campaign: str, contender: str, seed: int, marks: Sequence[int]) -> list[float]:
    """Let a campaign ask and the log answer. Return tau after each number of judgments."""
    kernels.compiled("grm"), kernels.compiled("pairs")
    oracle, turns = load(campaign), np.random.default_rng([seed, 7])
    draws: dict[tuple[str, ...], np.random.Generator] = {}
    given = dict(CONTENDERS[contender])
    baseline = oracle.systems[seed % len(oracle.systems)] if given.pop("baseline", False) else None
    given |= {"replicas": 0, "systems": oracle.systems, "segments": oracle.segments, "baseline": baseline}
    live = Campaign(campaign)
    live.apply([0], [Create(id="create", campaign=campaign, at=EPOCH, settings=CampaignSettings(**given))])
    others = [system for system in oracle.systems if system != baseline]
    taus: list[float] = []
    pair: tuple[str, ...]
    segment: str | None
    of: str | None
    for number in range(1, marks[-1] + 1):
        if live.outstanding:
            request = next(iter(live.outstanding.values()))
            pair, segment, of = request.systems, request.segment, request.id
        else:
            turn = (number - 1) % len(others)
            others = turns.permutation(others).tolist() if turn == 0 else others
            pair, segment, of = (others[turn], baseline or ""), None, None
        if pair not in draws:
            draws[pair] = np.random.default_rng([seed, *(oracle.systems.index(system) for system in pair)])
        judge, shown, order = oracle.answer(pair[0], pair[1], segment, draws[pair].random())
        ranks = (1 + (order > 0), 1 + (order < 0))
        answer = Judgment(
            id=str(number),
            campaign=campaign,
            segment=shown,
            judge=judge,
            systems=pair,
            ranks=ranks,
            request=of,
            at=EPOCH,
        )
        live.apply([number], [answer])
        live.discard_changes()
        if number in marks:
            score = {row.system: row.score for row in live.leaderboard().rows}
            taus.append(kendall_tau(np.array([score[system] for system in oracle.systems]), oracle.gold))
    assert live.counts.judgments == marks[-1]
    return taus


def show(name: str, values: NDArray[np.float64], sign: str = "") -> None:
    """Print the mean and its standard error at each mark."""
    means, errors = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
    cells = "".join(f"{f'{mean:{sign}.3f} ± {error:.3f}':>18}" for mean, error in zip(means, errors, strict=True))
    print(f"  {name:38}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="runs per log and contender, 2 or more (default: 20)")
    parser.add_argument("--marks", type=int, nargs="+", default=list(MARKS), help="numbers of judgments")
    parser.add_argument("--logs", nargs="+", choices=FILES, default=list(FILES), help="campaigns (default: all)")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS), help="(default: all)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    options = parser.parse_args()
    marks, size = sorted(set(options.marks)), options.seeds
    print(f"{'tau after ... judgments':40}" + "".join(f"{mark:>18,}" for mark in marks))
    with ProcessPoolExecutor(options.workers) as pool:
        for campaign in options.logs:
            role = "tuned on" if campaign in TUNED_ON else "kept back"
            print(f"{campaign} ({role}), {len(load(campaign).systems)} systems, {size} seeds")
            taus = {}
            for name in options.contenders:
                runs = pool.map(play, [campaign] * size, [name] * size, range(size), [marks] * size, chunksize=4)
                taus[name] = np.array(list(runs))
                show(name, taus[name])
            if all(name in taus for name in COMPARED):
                one, other = COMPARED
                show(f"{one} - {other}", taus[one] - taus[other], "+")


if __name__ == "__main__":
    main()
