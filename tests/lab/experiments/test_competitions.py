"""Hopkins and May's test sets, against their Table 3, and the experiment on them."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest

from reproduction.papers import read_published
from streams.core.methods.pairs import Pairs
from streams.core.methods.registry import create_method
from streams.errors import ParameterError
from streams.formats import read
from streams.lab.experiments import Log, Result, experiment
from streams.lab.experiments.competition_tables import costs_of_crowd, differences, means
from streams.lab.experiments.competitions import renumbered
from streams.lab.measures.prediction import perplexity
from streams.lab.protocols.iid import least_judged
from streams.lab.running.runner import run
from streams.lab.running.tables import Estimate
from streams.wire.events import Judgment
from tests.builders import judgment
from tests.core.methods.outcomes import drawn
from tests.data import real_log
from tests.lab.logs import rankings

TABLE_3 = {year: read_published("hopkins2013")["table3"][year] for year in ("wmt10", "wmt11")}
TRACKS = [(year, pair) for year, table in TABLE_3.items() for pair in table]


@cache
def tracks(year: str) -> dict[str, list[Judgment]]:
    found = defaultdict(list)
    for entry in read(real_log(f"{year}_rank.csv.gz")):
        found[entry.judgment.campaign].append(entry.judgment)
    return found


@pytest.mark.data
@pytest.mark.parametrize(("year", "pair"), TRACKS)
def test_the_training_and_test_sets_have_the_sizes_of_table_3(year: str, pair: str) -> None:
    campaign = {"wmt10": "wmt10", "wmt11": "wmt11-indivsystems"}[year]
    split = least_judged(Pairs.of(tracks(year)[f"{campaign}.{pair}"]))
    assert [len(split.training), len(split.test)] == TABLE_3[year][pair]


@pytest.mark.parametrize("fewest", [1, 50, 299])
def test_the_test_set_is_what_is_on_the_segments_judged_least(fewest: int) -> None:
    pairs = drawn(300, segments=30)
    split = least_judged(pairs, fewest=fewest)
    count = Counter(pairs.segment.tolist())
    assert len(split.test) >= fewest
    assert len(split.training) + len(split.test) == 300
    assert max(count[s] for s in split.test.segment.tolist()) == split.most
    assert all(count[s] > split.most for s in split.training.segment.tolist())
    assert sum(n for n in count.values() if n < split.most) < fewest  # a smaller k would not do


def test_a_campaign_that_is_too_small_is_told() -> None:
    with pytest.raises(ParameterError, match="300 comparisons are too few for a test set of 300"):
        least_judged(drawn(300), fewest=300)


def test_systems_are_numbered_as_the_other_campaign_has_them() -> None:
    crowd = Pairs.of([judgment(1, systems=("b", "x", "c"), ranks=(1, 2, 3)), judgment(2, systems=("c", "a"))])
    found = renumbered(crowd, ("a", "b", "c", "d"))
    assert found.systems == ("a", "b", "c", "d")
    assert list(zip(found.a.tolist(), found.b.tolist(), found.outcome.tolist(), strict=True)) == [(1, 2, 0), (2, 0, 0)]


def crowded() -> Log:
    """Give a campaign of experts, one of a crowd on the same pair, and one alone."""
    names = {"t.one": 0, "t-public.one": 1, "t.two": 2}
    log = [
        judgment(
            10_000 * seed + number,
            campaign=name,
            systems=one.systems,
            ranks=one.ranks,
            judge=one.judge,
            segment=one.segment,
        )
        for name, seed in names.items()
        for number, one in enumerate(rankings(120, seed=seed))
    ]
    return Log.of(log, file="crowded")


def quick(**options: Any) -> Any:
    return experiment("competitions", {"sizes": [50], "repeats": 2, "held_out": 100, "without": [], **options})


def test_a_crowd_is_learned_from_and_never_tested_on() -> None:
    found = {(cell["campaign"], cell["pool"], cell["training"]) for cell in quick().cells(crowded())}
    assert found == {("t.one", "own", "t.one"), ("t.two", "own", "t.two"), ("t.one", "crowd", "t-public.one")}


def test_tracks_are_chosen_by_name() -> None:
    log = crowded()
    assert {cell["campaign"] for cell in quick(tracks="*.two").cells(log)} == {"t.two"}
    assert {cell["campaign"] for cell in quick(without=["t.one"]).cells(log)} == {"t.two"}
    with pytest.raises(ParameterError, match="no campaign like 'x'"):
        quick(tracks="x").cells(log)


def test_a_pool_that_is_too_small_is_taken_whole() -> None:
    log = crowded()
    results = run(quick(models=["independent-pairs"], sizes=[100_000]), log).results
    one = next(result for result in results if result.cell["pool"] == "crowd")
    split = least_judged(log.campaigns["t.one"].pairs, fewest=100)
    training = log.campaigns["t-public.one"].pairs
    fitted = create_method("independent-pairs").fit(training)
    expected = perplexity(fitted.probabilities(split.test), split.test.outcome)
    assert one.measured["perplexity"] == pytest.approx([expected] * 2)
    assert (one.measured["pool"], one.measured["test"]) == (len(training), len(split.test))


def test_who_knows_nothing_has_a_perplexity_of_three() -> None:
    results = run(quick(models=["uniform"]), crowded()).results
    assert all(result.measured["perplexity"] == pytest.approx([3.0] * 2) for result in results)


def made_up(campaign: str, pool: str, model: str, *perplexities: float) -> Result:
    cell = {"campaign": campaign, "pool": pool, "model": model, "size": 100}
    return Result(cell, {"perplexity": list(perplexities)})


def test_estimates_are_over_campaigns_and_differences_within_them() -> None:
    best, other = "hopkins-may", "elo"
    results = [
        made_up("x", "own", other, 2.6, 2.8),
        made_up("y", "own", other, 2.2, 2.2),
        made_up("x", "own", best, 2.5, 2.7),
        made_up("y", "own", best, 2.1, 2.1),
        made_up("x", "crowd", other, 2.9, 2.9),
        made_up("x", "crowd", best, 2.7, 2.7),
    ]
    (row,) = means(results[:4], "").rows
    assert row[0] == 100
    for found, expected in zip(row[1:], (np.mean([2.7, 2.2]), np.mean([2.6, 2.1])), strict=True):
        assert isinstance(found, Estimate)
        assert found.mean == pytest.approx(expected)
        assert found.error == pytest.approx(0.25)
    (row,) = differences(results[:4], "").rows
    assert isinstance(row[1], Estimate)
    assert (row[1].mean, row[1].error) == pytest.approx((0.1, 0.0), abs=1e-12)
    (row,) = costs_of_crowd(results, "").rows
    assert [cell.mean for cell in row[1:] if isinstance(cell, Estimate)] == pytest.approx([0.2, 0.1])
