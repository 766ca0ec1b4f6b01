"""The experiments of the WMT13 findings give what the functions behind them give, of the right judges."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from streams.agreement.agreement import inter_agreement, intra_agreement, published_agreement
from streams.agreement.controls import by_threshold, score_controls
from streams.core.ranking import PairCounts, rank_scores
from streams.lab.experiments import Estimate, Log, experiment
from streams.lab.experiments.abilities import abilities
from streams.lab.experiments.annotators import agreement_of, threshold_rows
from streams.lab.experiments.official import rows_of, table_of
from streams.lab.running.runner import run
from tests.builders import crowd_log, judgment
from tests.lab.logs import rankings, small_log


def test_agreement_is_of_all_of_researchers_and_of_the_others() -> None:
    log = small_log()
    pairs = log.campaigns["c"].pairs
    results = run(experiment("annotators", {"margin": 1, "fewest": 3}), log).results
    trusted = np.array([name.startswith("researcher") for name in pairs.judges])[pairs.judge]
    groups = {"all": pairs, "researchers": pairs.select(trusted), "others": pairs.select(~trusted)}
    for kind, strict, place in (("inter", inter_agreement, 0), ("intra", intra_agreement, 1)):
        expected = {name: (published_agreement(some)[place].kappa, strict(some).kappa) for name, some in groups.items()}
        found = {
            one.cell["judges"]: tuple(agreement_of(one.measured[rule][kind]).kappa for rule in ("wmt", "strict"))
            for one in results
        }
        assert found == expected
    rows = by_threshold(groups["others"], score_controls(pairs, trusted, margin=1), fewest=3)
    assert [(row.threshold, row.judges, row.comparisons) for row in threshold_rows(results)] == [
        (row.threshold, row.judges, row.agreement.total) for row in rows
    ]


def test_without_researchers_all_judges_try_each_other() -> None:
    log = Log.of(crowd_log(300, ways=3), file="crowd")
    (one,) = run(experiment("annotators", {"margin": 1, "fewest": 1}), log).results
    assert one.cell["judges"] == "all"
    pairs = log.campaigns["campaign-0"].pairs
    rows = by_threshold(pairs, score_controls(pairs, np.ones(len(pairs), bool), margin=1), fewest=1)
    assert [row.judges for row in threshold_rows([one])] == [row.judges for row in rows]


def test_gold_scores_from_more_runs_are_nearer_to_those_from_all_runs() -> None:
    found = run(experiment("gold", {"runs": [2, 8, 40], "all_runs": 40, "repeats": 20}), small_log()).results
    (table,) = experiment("gold").tables(found)
    few, more, every = (row[1] for row in table.rows if isinstance(row[1], Estimate))
    assert few.mean < more.mean < every.mean
    assert every.mean == pytest.approx(1.0)
    assert few.count == 20


def test_the_official_ranking_is_that_of_the_pair_counts() -> None:
    judgments = rankings(200, noise=2.5)
    log = Log.of(judgments, file="small")
    (one,) = run(experiment("official", {"runs": 200, "seed": 3}), log).results
    counts = PairCounts.of(judgments)
    expected = rank_scores("bootstrap", counts, runs=200, seed=3).rows(counts.systems, counts.judgments.tolist())
    found = rows_of(one)
    assert [msgspec.structs.replace(row, judgments=0, line_above=None) for row in expected] == found
    assert one.measured["decided"] == counts.decided
    place = [counts.systems.index(row.system) for row in found]
    shares = counts.head_to_head()[np.ix_(place, place)]
    np.testing.assert_allclose(table_of(one).shares, shares)


def test_two_systems_that_never_met_have_an_empty_cell_in_json() -> None:
    log = Log.of([judgment(1), judgment(2, systems=("b", "c"))], file="few")
    (one,) = run(experiment("official", {"runs": 10}), log).results
    stored = msgspec.json.decode(msgspec.json.encode(one), type=type(one))
    table = table_of(stored)
    first, last = table.systems.index("a"), table.systems.index("c")
    assert one.measured["shares"][first][last] is None
    assert table.cell(first, last) == "–"


def test_abilities_find_the_order_and_are_about_the_average() -> None:
    log = Log.of(rankings(300), file="small")
    found = abilities(run(experiment("abilities", {"size": 600, "repeats": 3}), log).results)
    assert list(found) == [f"system-{k}" for k in range(5)]
    assert sum(mean for mean, _ in found.values()) == pytest.approx(0.0, abs=1e-9)
    assert all(deviation > 0 for _, deviation in found.values())
