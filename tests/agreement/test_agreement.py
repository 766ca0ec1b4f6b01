"""Agreement of judges, compared with the published values of WMT15 and with brute force."""

from __future__ import annotations

import csv
import gzip
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from streams.agreement.agreement import (
    Agreement,
    inter_agreement,
    inter_by_judge,
    intra_agreement,
    intra_by_judge,
    published_agreement,
)
from streams.core.methods.pairs import Pairs
from streams.formats import read
from streams.wire.events import EPOCH, Judgment
from tests.core.methods.outcomes import drawn, turned
from tests.data import real_log

PAIRS = ("en-cs", "en-de", "en-fr", "en-fi", "en-ru", "cs-en", "de-en", "fr-en", "fi-en", "ru-en")


@cache
def logs(collapsed: bool) -> dict[str, list[Judgment]]:
    """Read WMT15 by pair. If collapsed, systems that shared an output are one."""
    path = real_log("wmt15_rank.csv.gz")
    found: dict[str, list[Judgment]] = {f"wmt15.{pair}": [] for pair in PAIRS}
    if not collapsed:
        for entry in read(path):
            found[entry.judgment.campaign].append(entry.judgment)
        return found
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            found[f"wmt15.{row['pair']}"].append(
                Judgment(
                    id=row["seq"],
                    campaign="c",
                    segment=row["segment"],
                    judge=row["judge"],
                    systems=tuple(row["systems"].split("|")),
                    ranks=tuple(map(int, row["ranks"].split("|"))),
                    at=EPOCH,
                )
            )
    return found


@cache
def published() -> dict[tuple[str, str, str], dict[str, str]]:
    with real_log("wmt15_official/agreement.csv").open() as file:
        return {(row["kind"], row["collapsed"], row["pair"]): row for row in csv.DictReader(file)}


@pytest.mark.data
@pytest.mark.long
@pytest.mark.parametrize("collapsed", [True, False], ids=["collapsed", "expanded"])
@pytest.mark.parametrize("pair", PAIRS)
def test_the_published_agreement_of_wmt15_comes_out(pair: str, collapsed: bool) -> None:
    both = published_agreement(Pairs.of(logs(collapsed)[f"wmt15.{pair}"]))
    for kind, found in zip(("inter", "intra"), both, strict=True):
        row = published()[kind, str(collapsed).lower(), pair]
        counts = tuple(int(row[name]) for name in ("agree", "comparable", "ties", "total"))
        assert (found.agree, found.comparable, found.ties, found.total) == counts
        assert found.observed == pytest.approx(float(row["p_agree"]), abs=0.00051)
        assert found.chance == pytest.approx(float(row["p_chance"]), abs=0.00051)
        assert found.kappa == pytest.approx(float(row["kappa"]), abs=0.00051)


def couples(pairs: Pairs) -> list[tuple[int, int, bool]]:
    """Compare all rows in pairs. Yield the judges of comparable rows, and whether they agree."""
    found = []
    rows = list(zip(pairs.segment, pairs.judge, pairs.a, pairs.b, pairs.outcome, strict=True))
    for (s, j, a, b, o), (t, k, c, d, p) in combinations(rows, 2):
        if s == t and {a, b} == {c, d}:
            found.append((int(j), int(k), bool(o == (p if a == c else 2 - p))))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_judges_are_compared_with_others_and_with_themselves(seed: int) -> None:
    pairs = drawn(300, seed=seed, segments=6, judges=4)
    two = couples(pairs)
    inter, intra = inter_agreement(pairs), intra_agreement(pairs)
    assert (inter.agree, inter.comparable) == (
        sum(same for j, k, same in two if j != k),
        sum(j != k for j, k, _ in two),
    )
    assert (intra.agree, intra.comparable) == (
        sum(same for j, k, same in two if j == k),
        sum(j == k for j, k, _ in two),
    )
    for judge, (with_others, alone) in enumerate(zip(inter_by_judge(pairs), intra_by_judge(pairs), strict=True)):
        mine = [same for j, k, same in two if j != k and judge in (j, k)]
        own = [same for j, k, same in two if j == k == judge]
        assert (with_others.agree, with_others.comparable) == (sum(mine), len(mine))
        assert (alone.agree, alone.comparable) == (sum(own), len(own))


def test_the_order_in_which_a_pair_was_shown_does_not_matter() -> None:
    pairs = drawn(300, segments=6, judges=4)
    half = np.arange(300) % 2 == 0
    shown = turned(pairs)
    mixed = Pairs(
        **{
            name: np.where(half, getattr(pairs, name), getattr(shown, name))
            for name in ("a", "b", "outcome", "judge", "segment")
        },
        systems=pairs.systems,
        judges=pairs.judges,
        segments=pairs.segments,
    )
    assert inter_agreement(mixed) == inter_agreement(pairs)
    assert intra_agreement(mixed) == intra_agreement(pairs)


def test_the_intra_agreement_of_each_judge_sums_up_to_all() -> None:
    pairs = drawn(300, segments=6, judges=4)
    each, all_ = intra_by_judge(pairs), intra_agreement(pairs)
    for name in ("agree", "comparable", "ties", "total"):
        assert sum(getattr(one, name) for one in each) == getattr(all_, name)


def test_random_answers_agree_by_chance_only_and_a_careless_judge_least() -> None:
    pairs = drawn(6000, segments=10, judges=5, careless=1)
    kappas = [judge.kappa for judge in inter_by_judge(pairs)]
    assert kappas[0] == pytest.approx(0.0, abs=0.08)  # chance is that of the log, where ties are fewer than a third
    assert min(kappas[1:]) > kappas[0] + 0.1


def test_nothing_to_compare_has_no_kappa() -> None:
    assert np.isnan(Agreement(agree=0, comparable=0, ties=0, total=0).kappa)
    assert np.isnan(Agreement(agree=3, comparable=3, ties=4, total=4).kappa)
    assert inter_by_judge(drawn(0)) == (Agreement(agree=0, comparable=0, ties=0, total=0),) * 8


def test_the_interval_is_that_of_a_bootstrap_of_segments() -> None:
    chance = np.random.default_rng(5)
    segment = np.repeat(np.arange(60), 6)  # six judges on each; on a segment they agree more or less
    share = np.repeat(chance.uniform(0.3, 1.0, 60), 6)
    outcome = np.where(chance.random(360) < share, 0, 2)
    zeros = np.zeros(360, np.int64)
    names = tuple(map(str, range(60)))
    pairs = Pairs(
        a=zeros,
        b=zeros + 1,
        outcome=outcome,
        judge=np.tile(np.arange(6), 60),
        segment=segment,
        systems=("a", "b"),
        judges=tuple("uvwxyz"),
        segments=names,
    )
    found = inter_agreement(pairs)
    wins = np.bincount(segment, outcome == 0, 60)
    agree = (wins * (wins - 1) + (6 - wins) * (5 - wins)) / 2  # of the 15 pairs of judges of each segment
    again = chance.integers(0, 60, (4000, 60))
    kappas = 2 * agree[again].mean(axis=1) / 15 - 1
    assert found.kappa == pytest.approx(2 * agree.mean() / 15 - 1)
    low, high = found.interval
    assert (high - low) / (2 * 1.96) == pytest.approx(kappas.std(), rel=0.05)


def test_one_segment_has_no_interval() -> None:
    assert np.isnan(inter_agreement(Pairs.parse("><")).interval).all()
