"""Order after so many requested judgments: GRM pairwise and against a baseline, and TrueSkill, on real logs.

A campaign sends its requests, and a log answers: a judgment of the requested pair on the requested segment, drawn with
replacement. If the log has the pair on other segments only, one of these is drawn, with its own segment. Eight requests
are outstanding, and the oldest is answered first. The result is Kendall's tau between the leaderboard and the order by
Expected Wins of the whole log, the same for every contender: mean and standard error over the seeds. Each seed has
another baseline. `round robin` is the same model without requests: the systems meet the baseline in turn.

    python benchmarks/grm_live.py --seeds 20
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import combinations
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
    from collections.abc import Mapping

    from numpy.typing import NDArray

FILES = {
    "wmt13.fr-en": "wmt13_fr-en_rank.csv.gz",  # the policy was chosen on this log and on wmt15.en-de
    "wmt10-public.cs-en": "wmt10_rank.csv.gz",
    "wmt11-indivsystems.en-cs": "wmt11_rank.csv.gz",
}
MARKS = (300, 1000, 3000)
CONTENDERS: Mapping[str, dict[str, Any]] = {
    "trueskill": {"model": "trueskill"},
    "grm, any pairs": {"model": "grm"},
    "grm, baseline, round robin": {"model": "grm", "outstanding": 0},
    "grm, baseline, active": {"model": "grm"},
}


@dataclass(frozen=True)
class Oracle:
    """The judgments of a log, by pair and by pair and segment, and the order that all of them give."""

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    gold: NDArray[np.float64]
    answers: Mapping[tuple[str, ...], list[tuple[str, str, int]]]  # judge, segment, order; also by pair and segment

    def answer(self, one: str, other: str, segment: str | None, random: np.random.Generator) -> tuple[str, str, int]:
        """Draw a judgment of one against the other, on the segment if there is any."""
        found = self.answers.get((one, other, segment or ""), ()) or self.answers[one, other]
        return found[int(random.integers(len(found)))]


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
    pairs = {key: found for key, found in answers.items() if len(key) == 2}
    systems = tuple(sorted({key[0] for key in pairs}))
    wins, ties = np.zeros((2, len(systems), len(systems)), np.int64)
    for (one, other), found in pairs.items():
        place = systems.index(one), systems.index(other)
        wins[place] = sum(order < 0 for _, _, order in found)
        ties[place] = sum(order == 0 for _, _, order in found)
    segments = tuple(sorted({segment for found in pairs.values() for _, segment, _ in found}))
    return Oracle(systems, segments, ExpectedWins().score(wins, ties), answers)


def play(campaign: str, contender: str, seed: int) -> list[float]:
    """Let a campaign ask and the log answer. Return tau after each number of judgments."""
    kernels.compiled("grm"), kernels.compiled("pairs")
    oracle, random = load(campaign), np.random.default_rng([seed, 7])
    baseline = oracle.systems[seed % len(oracle.systems)] if "baseline" in contender else None
    given: dict[str, Any] = {
        "replicas": 0,
        "systems": oracle.systems,
        "segments": oracle.segments,
        "baseline": baseline,
    }
    live = Campaign(campaign)
    settings = CampaignSettings(**given | CONTENDERS[contender])
    live.apply([0], [Create(id="create", campaign=campaign, at=EPOCH, settings=settings)])
    others = [system for system in oracle.systems if system != baseline]
    taus: list[float] = []
    pair: tuple[str, ...]
    segment: str | None
    of: str | None
    for number in range(1, MARKS[-1] + 1):
        if live.outstanding:
            request = next(iter(live.outstanding.values()))
            pair, segment, of = request.systems, request.segment, request.id
        else:
            turn = (number - 1) % len(others)
            others = random.permutation(others).tolist() if turn == 0 else others
            pair, segment, of = (others[turn], baseline or ""), None, None
        judge, shown, order = oracle.answer(pair[0], pair[1], segment, random)
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
        if number in MARKS:
            score = {row.system: row.score for row in live.leaderboard().rows}
            taus.append(kendall_tau(np.array([score[system] for system in oracle.systems]), oracle.gold))
    assert live.counts.judgments == MARKS[-1]
    return taus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="runs per log and contender (default: 20)")
    parser.add_argument("--logs", nargs="*", choices=FILES, default=list(FILES), help="campaigns (default: all)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    options = parser.parse_args()
    print(f"{'tau after ... judgments':48}" + "".join(f"{mark:>16,}" for mark in MARKS))
    with ProcessPoolExecutor(options.workers) as pool:
        for campaign in options.logs:
            print(f"{campaign}, {len(load(campaign).systems)} systems, {options.seeds} seeds")
            for contender in CONTENDERS:
                size = options.seeds
                taus = np.array(list(pool.map(play, [campaign] * size, [contender] * size, range(size))))
                errors = taus.std(axis=0, ddof=1) / np.sqrt(size)
                cells = "".join(f"{f'{m:.3f} ± {e:.3f}':>16}" for m, e in zip(taus.mean(axis=0), errors, strict=True))
                print(f"  {contender:46}{cells}", flush=True)


if __name__ == "__main__":
    main()
