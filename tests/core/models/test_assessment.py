"""Direct assessment against its definition, computed anew from the raw list."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.core.models.assessment import Assessment
from streams.core.models.base import JudgmentBatch, parameters_of

if TYPE_CHECKING:
    from streams.core.models.base import Cell, Floats

Score = tuple[int, int, int, float]  # system, segment, judge, score
SYSTEMS, SEGMENTS, JUDGES = 5, 12, 6


def raw_scores(count: int, *, seed: int = 0) -> list[Score]:
    """Draw scores by judges of different severity and range; cells repeat."""
    random = np.random.default_rng(seed)
    severity, span = random.uniform(20, 80, JUDGES), random.uniform(0.5, 20, JUDGES)
    log = []
    for _ in range(count):
        system, segment, judge = (int(random.integers(size)) for size in (SYSTEMS, SEGMENTS, JUDGES))
        score = np.clip(severity[judge] + span[judge] * (0.4 * system + random.normal()), 0, 100)
        log.append((system, segment, judge, float(score)))
    return log


def batch_of(log: list[Score]) -> JudgmentBatch:
    columns = list(zip(*log, strict=True)) if log else [()] * 4
    systems, segments, judges = (np.array(column, np.int64) for column in columns[:3])
    return JudgmentBatch(
        systems=systems,
        ranks=np.ones(len(log), np.int64),
        starts=np.arange(len(log) + 1),
        judges=judges,
        segments=segments,
        scores=np.array(columns[3], np.float64),
    )


def model_of(log: list[Score], **parameters: object) -> Assessment:
    model = Assessment(parameters_of(Assessment, parameters))
    model.grow(SYSTEMS, JUDGES, SEGMENTS)
    model.apply(batch_of(log))
    return model


def by_definition(log: list[Score], scale: str) -> tuple[Floats, Floats]:
    """Compute scores and deviations from the whole list."""
    given_by = defaultdict(list)
    for _, _, judge, score in log:
        given_by[judge].append(score)
    outputs: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for system, segment, judge, score in log:
        if scale == "raw":
            value = score
        elif len(set(given_by[judge])) == 1:
            value = 0.0
        else:
            value = float((score - np.mean(given_by[judge])) / np.std(given_by[judge], ddof=1))
        outputs[system][segment].append(value)
    before, spread = (0.0, 1.0) if scale == "z" else (50.0, 100.0 / np.sqrt(12.0))
    mean, deviation = np.full(SYSTEMS, before), np.full(SYSTEMS, 2 * spread)
    for system, segments in outputs.items():
        values = [np.mean(values) for values in segments.values()]
        mean[system] = np.mean(values)
        variance = (np.sum((values - np.mean(values)) ** 2) + spread**2) / len(values)
        deviation[system] = np.sqrt(variance / len(values))
    return mean, deviation


@pytest.mark.parametrize("scale", ["z", "raw"])
def test_at_any_moment_the_scores_are_those_of_the_whole_list(scale: str) -> None:
    log = raw_scores(700)
    model = model_of([], scale=scale)
    moments = sorted({0, 1, 2, 3, 5, 8, 700, *np.random.default_rng(1).integers(700, size=25).tolist()})
    for start, stop in zip([0, *moments], moments, strict=False):
        model.apply(batch_of(log[start:stop]))
        np.testing.assert_allclose(model.scores(), by_definition(log[:stop], scale), rtol=1e-12, atol=1e-12)


_scores = st.tuples(
    st.integers(0, SYSTEMS - 1), st.integers(0, 2), st.integers(0, 2), st.sampled_from([0.0, 33.3, 33.4, 70.1, 100.0])
)


@settings(max_examples=60)
@given(st.lists(_scores, max_size=30))
def test_few_scores_and_judges_who_always_say_the_same_are_no_exception(log: list[Score]) -> None:
    for scale in ("z", "raw"):
        np.testing.assert_allclose(
            model_of(log, scale=scale).scores(), by_definition(log, scale), rtol=1e-12, atol=1e-12
        )


def test_a_narrow_judge_far_from_zero_loses_no_digits() -> None:
    random = np.random.default_rng(2)
    log = [(k % 2, k % SEGMENTS, 0, 99.0 + 0.01 * float(random.random())) for k in range(400)]
    np.testing.assert_allclose(model_of(log).scores(), by_definition(log, "z"), rtol=1e-9)


def test_a_severe_judge_does_no_harm_to_the_systems_that_the_judge_saw() -> None:
    kind = [(system, segment, 0, 60.0 + 10 * system) for system in (0, 1, 2) for segment in range(5)]
    severe = [(system, segment, 1, 5.0 + 10 * system) for system in (1, 2, 3) for segment in range(5, 10)]
    raw, z = model_of(kind + severe, scale="raw").scores()[0], model_of(kind + severe).scores()[0]
    assert raw[3] < raw[0]
    assert z[3] > z[0]


def test_a_segment_counts_once_however_often_it_is_judged() -> None:
    log: list[Score] = [(0, 0, 0, 90.0), (0, 0, 1, 80.0), (0, 0, 1, 85.0), (0, 1, 0, 10.0)]
    assert model_of(log, scale="raw").scores()[0][0] == pytest.approx((85.0 + 10.0) / 2)


def test_rows_and_cells_put_back_in_any_order_give_the_same_bits() -> None:
    log = raw_scores(500, seed=3)
    model = model_of(log[:300])
    restored = model_of([])
    cells: list[Cell] = sorted({(system, segment, judge) for system, segment, judge, _ in log[:300]})
    np.random.default_rng(0).shuffle(cells)
    for system, segment, judge in cells:
        cell = (int(system), int(segment), int(judge))
        row = model.dump_cell(cell)
        assert len(row) == (Assessment.cell_width if row[0] == 1 else 5)
        restored.load_cell(cell, row)
    for judge in range(JUDGES):
        row = model.dump_row("judges", judge)
        assert len(row) == Assessment.widths["judges"]
        restored.load_row("judges", judge, row)
    for both in (model, restored):
        both.apply(batch_of(log[300:]))
    assert [part.tolist() for part in restored.scores()] == [part.tolist() for part in model.scores()]
    assert restored.dump_row("judges", 0) == model.dump_row("judges", 0)


def test_the_state_grows_with_distinct_cells_and_not_with_scores() -> None:
    log = raw_scores(50)
    once, often = model_of(log), model_of(log * 20)
    cells = {(system, segment, judge) for system, segment, judge, _ in log}
    assert all(often.dump_cell(cell)[0] == 20 * once.dump_cell(cell)[0] for cell in cells)
    with pytest.raises(KeyError):
        often.dump_cell((0, SEGMENTS, 0))


def test_the_margin_is_where_systems_tie() -> None:
    log = raw_scores(400)
    without, within = model_of(log).predict(1, 2), model_of(log, margin=0.1).predict(1, 2)
    assert without.tie == pytest.approx(0, abs=1e-15)
    assert 0 < within.tie < 1
    assert within.win < without.win
    assert without.loss > without.win  # quality rises with the number


def test_the_next_segment_tells_most_of_the_system_with_the_fewest() -> None:
    log = [(0, segment, 0, 50.0 + segment) for segment in range(10)] + [(1, 0, 0, 40.0)]
    model = model_of(log)
    assert model.information(2, 3) > model.information(1, 2) > model.information(0, 1) > 0
    n = 10
    assert model.information(0, 1) == pytest.approx(0.5 * np.log2((n + 1) / n) + 0.5)


def test_a_new_range_of_scores_counts_at_once() -> None:
    model = model_of([(0, 0, 0, 4.0)], scale="raw")
    assert model.scores()[1][0] == pytest.approx(100 / np.sqrt(12))
    model.score_range = (1.0, 7.0)
    assert model.scores()[1][0] == pytest.approx(6 / np.sqrt(12))
    assert model.scores()[0][1] == 4.0
