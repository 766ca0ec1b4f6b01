"""Judges who manipulate or do not care: how many are found, how many honest ones are flagged, and what it changes.

12 systems, 200 judges, 12,000 judgments. The favoured system is truly the sixth. The seeds below 200 and 1,000 to 1,003
were looked at while the tests were chosen; the figures in the documentation are of the seeds 1,000 to 1,019.

    python benchmarks/judge_attacks.py --runs 40
    python benchmarks/judge_attacks.py --only logs
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.data import DATA  # noqa: E402
from streams import formats  # noqa: E402
from streams.core.judges import Votes, examine_judges  # noqa: E402
from streams.core.judges.peeling import peel  # noqa: E402
from streams.core.judges.prediction import Predictor  # noqa: E402
from streams.core.judges.report import report_on  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from streams.core.judges.peeling import Peeled
    from streams.wire.events import Judgment

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

SYSTEMS, JUDGES, JUDGMENTS = 12, 200, 12_000
FAVOURED = 5
MARGIN = 0.3  # of a tie, in units of the noise: about a fifth of the judgments are ties
ATTACKS = [
    ("none", 0.0),
    ("chosen", 0.05),
    ("chosen", 0.1),
    ("chosen", 0.2),
    ("half", 0.005),
    ("position", 0.05),
    ("position", 0.3),
    ("random", 0.05),
    ("random", 0.3),
    ("quiet", 0.05),
    ("quiet", 0.1),
    ("quiet", 0.15),
]
WORDS = {
    "none": "no attack",
    "chosen": "vote for one system in matches that they choose",
    "half": "one judge sends half of all votes, for one system",
    "position": "prefer the first shown (85 %)",
    "random": "answer at random",
    "quiet": "vote for one system in matches that they are given",
}
LOGS = {  # by year, so that older ones are apart; all were looked at while the tests were chosen
    "WMT13, WMT15, LLMFAO": ("wmt13_fr-en_rank.csv.gz", "wmt15_rank.csv.gz", "llmfao_crowd.csv.gz"),
    "WMT10, WMT11": ("wmt10_rank.csv.gz", "wmt11_rank.csv.gz"),
}


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A simulated log, with the judges who are not honest."""

    votes: Votes
    bad: Bools


def simulate(
    kind: str,
    share: float,
    seed: int,
    *,
    systems: int = SYSTEMS,
    judges: int = JUDGES,
    judgments: int = JUDGMENTS,
    spread: float = 1.0,
) -> Attack:
    """Draw the votes of judges of whom a share is not honest. `spread` is that of the abilities, beta is 1.118."""
    random = np.random.default_rng([seed, judgments])
    places = [NormalDist().inv_cdf(1.0 - (k + 0.5) / systems) for k in range(systems)]
    favoured = min(FAVOURED, systems // 2)
    ability = np.array(places) * spread / (2.0**0.5 * 1.118)
    bad = np.zeros(judges, np.bool_)
    judge = random.integers(0, judges, judgments)
    if kind == "half":
        bad[0] = True
        judge = np.where(random.random(judgments) < 0.5, 0, random.integers(1, judges, judgments))
    else:
        bad[random.permutation(judges)[: round(share * judges)]] = True
    cheats = bad[judge]
    first = random.integers(0, systems, judgments)
    second = (first + random.integers(1, systems, judgments)) % systems
    if kind in ("chosen", "half"):
        other = (favoured + random.integers(1, systems, judgments)) % systems
        ahead = random.random(judgments) < 0.5
        first = np.where(cheats, np.where(ahead, favoured, other), first)
        second = np.where(cheats, np.where(ahead, other, favoured), second)
    gap = ability[first] - ability[second] + random.standard_normal(judgments)
    outcome = np.where(gap > MARGIN, 1, np.where(gap < -MARGIN, -1, 0))
    if kind in ("chosen", "half", "quiet"):
        outcome = np.where(cheats & (first == favoured), 1, np.where(cheats & (second == favoured), -1, outcome))
    elif kind == "position":
        outcome = np.where(cheats, np.where(random.random(judgments) < 0.85, 1, -1), outcome)
    elif kind == "random":
        outcome = np.where(cheats, random.choice([1, 0, -1], judgments, p=[0.4, 0.2, 0.4]), outcome)
    rows, count = np.unique(np.stack([judge, first, second, outcome], axis=1), axis=0, return_counts=True)
    votes = Votes(
        systems=tuple(f"s{i:02}" for i in range(systems)),
        judges=tuple(f"j{i:03}" for i in range(judges)),
        judgments=np.bincount(judge, minlength=judges),
        judge=rows[:, 0],
        first=rows[:, 1],
        second=rows[:, 2],
        outcome=rows[:, 3],
        size=np.full(len(rows), 2),
        count=count,
        timed=np.zeros(judges, np.int64),
        seconds=np.full(judges, np.nan),
    )
    return Attack(votes=votes, bad=bad)


def rank_of(ability: Floats) -> int:
    return 1 + int((ability > ability[FAVOURED]).sum())


def area(doubt: Floats, bad: Bools) -> float:
    """Return how often a bad judge is doubted more than an honest one."""
    one, other = doubt[bad][:, None], doubt[~bad][None, :]
    return float((one > other).mean() + 0.5 * (one == other).mean())


def plain_doubt(votes: Votes) -> Floats:
    """Return one minus the share of each judge's preferences that agree with the majority of all other judges."""
    size, judges = len(votes.systems), len(votes.judges)
    wins = np.zeros((size, size))
    signed = votes.count * votes.outcome
    np.add.at(wins, (votes.first, votes.second), signed)
    majority = wins - wins.T
    own: dict[tuple[int, int, int], int] = defaultdict(int)
    for j, a, b, each in zip(votes.judge, votes.first, votes.second, signed, strict=True):
        own[j, a, b] += each
        own[j, b, a] -= each
    agreed, compared = np.zeros(judges), np.zeros(judges)
    for j, a, b, outcome, count in zip(votes.judge, votes.first, votes.second, votes.outcome, votes.count, strict=True):
        others = majority[a, b] - own[j, a, b]
        if outcome and others:
            compared[j] += count
            agreed[j] += count * ((others > 0) == (outcome > 0))
    return 1.0 - agreed / np.maximum(compared, 1.0)


def doubt_of(peeled: Peeled, judges: int) -> Floats:
    doubt = np.zeros(judges)
    doubt[peeled.residuals.judge] = -peeled.residuals.agreement.z
    return doubt


def attacks(runs: int, seed: int) -> None:
    print(f"{SYSTEMS} systems, {JUDGES} judges, {JUDGMENTS:,} judgments, {runs} runs")
    print(f"{'attack':<52}  share   found  honest   raw  after   alarm  other    AUC  plain")
    for kind, share in ATTACKS:
        rows = []
        for run in range(runs):
            attack = simulate(kind, share, seed + run)
            votes, bad = attack.votes, attack.bad
            peeled = peel(votes)
            report = report_on(votes, peeled)
            flagged = np.isin(votes.judges, [judge.judge for judge in report.flagged])
            alarms = [(alarm.system, alarm.against) for alarm in report.alarms]
            on = (votes.systems[FAVOURED], False)
            random = kind == "random"
            rows.append(
                (
                    flagged[bad].mean() if bad.any() else np.nan,
                    flagged[~bad].mean(),
                    rank_of(Predictor(votes).fit(np.ones(JUDGES)).ability),
                    rank_of(peeled.prediction.ability),
                    on in alarms,
                    any(each != on for each in alarms),
                    area(doubt_of(peeled, JUDGES), bad) if random else np.nan,
                    area(plain_doubt(votes), bad) if random else np.nan,
                )
            )
        found, honest, raw, after, alarm, other, auc, plain = np.mean(np.array(rows, float), axis=0)
        print(
            f"{WORDS[kind]:<52} {share:>6.1%} {found:>7.1%} {honest:>7.2%} {raw:>5.1f} {after:>6.1f} {alarm:>7.0%}"
            f" {other:>6.0%} {auc:>6.3f} {plain:>6.3f}".replace("nan%", "  - ").replace("   nan", "     -"),
            flush=True,
        )


def logs(*, reasons: bool) -> None:
    print("log                               judgments  systems  judges  tested  flagged  alarms  why")
    totals: dict[str, Counter[str]] = {}
    for part, files in LOGS.items():
        total = totals[part] = Counter[str]()
        for name in files:
            campaigns: dict[str, list[Judgment]] = defaultdict(list)
            for _, judgment in formats.read(DATA / name):
                campaigns[judgment.campaign].append(judgment)
            for campaign, log in sorted(campaigns.items()):
                total.update(show_log(campaign, log, reasons=reasons))
    for part, total in totals.items():
        counts = ", ".join(f"{kind} {count:,}" for kind, count in sorted(total.items()))
        print(f"{part}: flagged {total['flagged'] / total['tested']:.1%} of the tested judges; {counts}")


def show_log(campaign: str, log: list[Judgment], *, reasons: bool) -> Counter[str]:
    """Print what the tests find in a log. Return the counts."""
    votes = Votes.of(log)
    report = examine_judges(votes)
    why = Counter(str(judge.reasons[0].kind) for judge in report.flagged)
    words = ", ".join(f"{kind} {count}" for kind, count in sorted(why.items()))
    print(
        f"{campaign:<33} {len(log):>9,} {len(votes.systems):>8} {report.judges:>7} {report.tested:>7}"
        f" {len(report.flagged):>8} {len(report.alarms):>7}  {words}",
        flush=True,
    )
    if reasons:
        for judge in report.flagged:
            print(f"    {judge.judge}: {judge.message}")
    counts = {"tested": report.tested, "flagged": len(report.flagged), "alarms": len(report.alarms)}
    return why + Counter(counts | {"systems": len(votes.systems), "campaigns": 1})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="simulated campaigns per attack (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1000, help="seed of the first one (default: %(default)s)")
    parser.add_argument("--only", choices=("attacks", "logs"), help="part to run (default: both)")
    parser.add_argument("--reasons", action="store_true", help="print why each judge of the logs is flagged")
    chosen = parser.parse_args()
    if chosen.only != "logs":
        attacks(chosen.runs, chosen.seed)
    if chosen.only != "attacks":
        logs(reasons=chosen.reasons)


if __name__ == "__main__":
    main()
