"""What holds of every model: a new one is picked up from the registry and must pass all of this."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.core import kernels
from streams.core.models import MODELS, JudgmentBatch, Model, parameters_of
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models.base import Cell, Floats, Ints

QUALITIES = (0.0, -0.7, -1.4, -2.1, -2.8, -3.5)
SYSTEMS, JUDGES, SEGMENTS, COUNT = len(QUALITIES), 5, 40, 150

# Choices that do not stand alone: the profile wmt needs a budget, and the mode baseline rates only some judgments.
LEFT_OUT = {("profile", "wmt"), ("mode", "baseline")}
# Number of adversarial judgments for a choice that is too slow for a million.
SLOW = {"package": 2000}


def variants() -> dict[str, type[Model]]:
    """Return every model, and once more for every other choice that one of its parameters has."""
    found: dict[str, type[Model]] = {}
    for name, model in MODELS.items():
        found[name] = model
        defaults = model.parameters_type()
        for field, hint in get_type_hints(model.parameters_type).items():
            for choice in get_args(hint) if get_origin(hint) is Literal else ():
                if choice != getattr(defaults, field) and (field, choice) not in LEFT_OUT:
                    label = f"{name}-{choice}"
                    found[label] = type(label, (model,), {"__module__": __name__, "given": {field: choice}})
    return found


VARIANTS = variants()
models = pytest.mark.parametrize("kind", VARIANTS.values(), ids=VARIANTS)


def create(kind: type[Model]) -> Model:
    return kind(parameters_of(kind, getattr(kind, "given", {})))


def log_of(
    kind: type[Model], count: int = COUNT, *, qualities: Sequence[float] = QUALITIES, seed: int = 0
) -> JudgmentBatch:
    """Draw judgments of the model's kind, rankings of two to four of the systems."""
    random = np.random.default_rng(seed)
    systems = len(qualities)
    if kind.kind == "scores":
        shown = [np.array([system]) for system in random.integers(systems, size=count)]
    else:
        sizes = random.integers(2, min(4, systems) + 1, size=count)
        shown = [random.choice(systems, size=size, replace=False) for size in sizes]
    seen = [random.normal(size=len(these)) - np.array(qualities)[these] for these in shown]
    return batch_of(
        kind,
        shown,
        [np.round(values) for values in seen],
        judges=random.integers(JUDGES, size=count),
        segments=random.integers(SEGMENTS, size=count),
    )


def batch_of(
    kind: type[Model], shown: list[Ints], seen: list[Floats], *, judges: Ints, segments: Ints
) -> JudgmentBatch:
    """Put judgments into a batch; what is seen is the lower, the better."""
    scored = kind.kind == "scores"
    ranks = [np.unique(values, return_inverse=True)[1] + 1 for values in seen]
    return JudgmentBatch(
        systems=np.concatenate(shown).astype(np.int64),
        ranks=np.concatenate(ranks).astype(np.int64),
        starts=np.cumsum([0, *map(len, shown)]),
        judges=judges,
        segments=segments,
        scores=np.array([np.clip(70 - 8 * values[0], 0, 100) if scored else np.nan for values in seen]),
    )


def part(batch: JudgmentBatch, start: int, stop: int) -> JudgmentBatch:
    starts = batch.starts[start : stop + 1]
    return JudgmentBatch(
        systems=batch.systems[starts[0] : starts[-1]],
        ranks=batch.ranks[starts[0] : starts[-1]],
        starts=starts - starts[0],
        judges=batch.judges[start:stop],
        segments=batch.segments[start:stop],
        scores=batch.scores[start:stop],
    )


def duels(kind: type[Model]) -> JudgmentBatch:
    """Let 0 and 1 meet once on each segment: wins, ties and losses in turn."""
    if kind.kind == "scores":
        shown = [np.array([k % 2]) for k in range(2 * SEGMENTS)]
        seen = [np.array([float(k % 5 - 2)]) for k in range(2 * SEGMENTS)]
    else:
        shown = [np.array([0, 1])] * SEGMENTS
        seen = [np.array([0.0, (1.0, 0.0, -1.0)[k % 3]]) for k in range(SEGMENTS)]
    places = np.arange(len(shown))
    return batch_of(kind, shown, seen, judges=places % JUDGES, segments=places * SEGMENTS // len(shown))


def rated(kind: type[Model], *batches: JudgmentBatch, systems: int = SYSTEMS) -> Model:
    model = create(kind)
    model.grow(systems, JUDGES, SEGMENTS)
    for batch in batches:
        model.apply(batch)
    return model


def cells_of(model: Model, batch: JudgmentBatch) -> list[Cell]:
    """Give the (system, segment, judge) of which the model keeps a sum, if it keeps any."""
    if not model.cell_width:
        return []
    return sorted(set(zip(batch.systems.tolist(), batch.segments.tolist(), batch.judges.tolist(), strict=True)))


def state(model: Model, batch: JudgmentBatch, *, systems: int = SYSTEMS) -> dict[Any, tuple[float, ...]]:
    """Dump everything: the rows, what belongs to none, and the cells that the batch touched."""
    rows: dict[Any, tuple[float, ...]] = {("shared", 0): model.dump_shared()}
    for axis, count in (("systems", systems), ("judges", JUDGES), ("segments", SEGMENTS)):
        rows |= {(axis, i): model.dump_row(axis, i) for i in range(count)}  # type: ignore[arg-type]
    return rows | {("cells", cell): model.dump_cell(cell) for cell in cells_of(model, batch)}


def load(model: Model, rows: dict[Any, tuple[float, ...]]) -> None:
    for (axis, index), row in rows.items():
        if axis == "cells":
            model.load_cell(index, row)
        elif axis == "shared":
            model.load_shared(row)
        else:
            model.load_row(axis, index, row)
        model.scores()  # what was computed before must not stand in the way of the next row


def results(model: Model) -> list[list[float]]:
    return [part.tolist() for part in model.scores()]


@models
def test_before_any_judgment_all_systems_are_alike(kind: type[Model]) -> None:
    model = rated(kind)
    mean, deviation = model.scores()
    assert len(mean) == len(deviation) == SYSTEMS
    assert len(set(mean)) == len(set(deviation)) == 1
    assert deviation[0] > 0
    win, tie, loss = model.predict(0, 1)
    assert win == pytest.approx(loss)
    assert 0 < win < 1
    assert 0 <= tie < 1
    assert win + tie + loss == pytest.approx(1)


@models
def test_predictions_are_probabilities_and_know_the_other_side(kind: type[Model]) -> None:
    model = rated(kind, log_of(kind))
    for a in range(SYSTEMS):
        for b in range(a):
            outcome = model.predict(a, b)
            assert sum(outcome) == pytest.approx(1, abs=1e-12)
            assert min(outcome) >= 0
            assert outcome == pytest.approx(model.predict(b, a)[::-1], abs=1e-12)


@models
def test_the_better_system_is_rated_and_predicted_above(kind: type[Model]) -> None:
    model = rated(kind, log_of(kind, 1500))
    mean, _ = model.scores()
    assert np.argsort(-mean).tolist() == list(range(SYSTEMS))
    assert model.predict(0, SYSTEMS - 1).win > 0.5 > model.predict(SYSTEMS - 1, 0).win


@models
def test_relabelling_systems_relabels_results(kind: type[Model]) -> None:
    batch = log_of(kind)
    label = np.random.default_rng(1).permutation(SYSTEMS)
    model = rated(kind, batch)
    other = rated(kind, replace(batch, systems=label[batch.systems]))
    np.testing.assert_allclose(np.array(other.scores())[:, label], model.scores(), atol=1e-9)
    assert other.predict(int(label[0]), int(label[4])) == pytest.approx(model.predict(0, 4), abs=1e-9)
    assert other.information(int(label[0]), int(label[4])) == pytest.approx(model.information(0, 4), abs=1e-9)


@models
@settings(max_examples=8)
@given(cuts=st.lists(st.integers(0, COUNT), max_size=6))
def test_a_log_in_any_batches_gives_the_same_bits(kind: type[Model], cuts: list[int]) -> None:
    batch = log_of(kind)
    whole = rated(kind, batch)
    split = create(kind)
    for start, stop in pairwise([0, *sorted(cuts), COUNT]):
        if start < stop:
            now = part(batch, 0, stop)  # room for those who have appeared, as a campaign makes it
            split.grow(int(now.systems.max()) + 1, int(now.judges.max()) + 1, int(now.segments.max()) + 1)
            split.apply(part(batch, start, stop))
            split.scores()
    split.grow(SYSTEMS, JUDGES, SEGMENTS)
    assert state(split, batch) == state(whole, batch)
    assert results(split) == results(whole)


@models
def test_a_state_dumped_and_loaded_midway_changes_nothing(kind: type[Model]) -> None:
    batch = log_of(kind)
    first, second = part(batch, 0, 90), part(batch, 90, COUNT)
    model = rated(kind, first)
    rows = state(model, first)
    loaded = rated(kind)
    load(loaded, dict(reversed(rows.items())))
    assert results(loaded) == results(model)
    assert {len(row) for (axis, _), row in rows.items() if axis == "systems"} == {kind.widths["systems"]}
    # A judge may have more: the outcomes by pair.
    assert min(len(row) for (axis, _), row in rows.items() if axis == "judges") >= kind.widths["judges"]
    assert {len(row) for (axis, _), row in rows.items() if axis == "segments"} == {kind.widths["segments"]}
    for either in (model, loaded):
        either.apply(second)
    assert state(loaded, batch) == state(model, batch)
    assert results(loaded) == results(model)
    assert loaded.predict(0, 1) == model.predict(0, 1)


@models
def test_to_ask_changes_nothing(kind: type[Model]) -> None:
    batch = log_of(kind)
    model = rated(kind, batch)
    before = state(model, batch)
    mean, deviation = model.scores()
    mean[:], deviation[:] = 7.0, 7.0
    model.predict(0, 1), model.information(0, 1)
    assert state(model, batch) == before
    assert results(model) == results(rated(kind, batch))


@models
def test_plain_and_compiled_give_the_same_bits(kind: type[Model], monkeypatch: pytest.MonkeyPatch) -> None:
    batch = log_of(kind, 400, seed=2)
    states = []
    for choice in (kernels.plain, kernels.compiled):
        monkeypatch.setattr(kernels, "suited", lambda name, updates, choice=choice: choice(name))
        model = rated(kind, batch)
        states.append((state(model, batch), results(model)))
    assert states[0] == states[1]


@models
def test_who_joins_starts_where_all_started_and_moves_nobody(kind: type[Model]) -> None:
    prior = rated(kind).scores()
    model = rated(kind, log_of(kind))
    before = model.scores()
    model.grow(SYSTEMS + 50, JUDGES + 50, SEGMENTS + 50)
    for now, then, first in zip(model.scores(), before, prior, strict=True):
        assert now[:SYSTEMS].tolist() == then.tolist()
        assert set(now[SYSTEMS:]) == set(first)


@models
def test_a_system_that_joins_late_is_rated_fairly(kind: type[Model]) -> None:
    clone = SYSTEMS
    early, late = log_of(kind, 600), log_of(kind, 900, qualities=(*QUALITIES, QUALITIES[0]), seed=1)
    model = rated(kind, early)
    model.grow(SYSTEMS + 1, JUDGES, SEGMENTS)
    _, before = model.scores()
    assert before[clone] > before[0]
    model.apply(late)
    mean, deviation = model.scores()
    assert abs(mean[clone] - mean[0]) < 3 * np.hypot(deviation[clone], deviation[0])
    assert mean[clone] > mean[1]


@models
def test_information_is_positive_and_falls_as_a_pair_is_judged(kind: type[Model]) -> None:
    model = rated(kind)
    information = [model.information(0, 1)]
    batch = duels(kind)
    for start, stop in pairwise(range(0, len(batch) + 1, len(batch) // 4)):
        model.apply(part(batch, start, stop))
        information.append(model.information(0, 1))
    assert information[-1] > 0
    assert all(later < earlier for earlier, later in pairwise(information))
    assert model.information(2, 3) > information[-1]
    assert model.information(0, 1) == pytest.approx(model.information(1, 0), rel=1e-9)


@models
def test_adversarial_outcomes_leave_everything_finite(kind: type[Model]) -> None:
    most = 1_000_000 if kind.kind == "rankings" else 100_000
    batch = adversarial(kind, min([most, *(SLOW.get(choice, most) for choice in getattr(kind, "given", {}).values())]))
    model = rated(kind, batch)
    assert all(np.isfinite(row).all() for row in state(model, batch).values())
    mean, deviation = model.scores()
    assert np.isfinite(mean).all()
    assert np.isfinite(deviation).all()
    assert (deviation > 0).all()
    for a, b in ((0, 1), (1, 0), (2, 5)):
        assert sum(model.predict(a, b)) == pytest.approx(1)
        assert 0 <= model.information(a, b) < 100


def adversarial(kind: type[Model], count: int) -> JudgmentBatch:
    """Let 0 beat 1 always, then 1 beat 0, then 0, 1 and 2 go round in a circle, then all tie; then all over again."""
    quarter = np.arange(count) * 8 // count % 4
    first = np.where(quarter < 2, 0, np.arange(count) % 3)
    second = np.where(quarter < 2, 1, (first + 1) % 3)
    ranks = np.stack([1 + (quarter == 1), 1 + (quarter % 2 == 0)], axis=1)
    judges, segments = np.arange(count) // 1000 % JUDGES, np.arange(count) // 7 % SEGMENTS
    if kind.kind == "rankings":
        systems, starts = np.stack([first, second], axis=1).reshape(-1), np.arange(0, 2 * count + 1, 2)
        ranks, scores = ranks.reshape(-1), np.full(count, np.nan)
    else:
        systems, starts = first, np.arange(count + 1)
        ranks, scores = np.ones(count, np.int64), np.choose(quarter, [100.0, 0.0, 100.0 * (first == 1), 1e-9])
    return JudgmentBatch(systems=systems, ranks=ranks, starts=starts, judges=judges, segments=segments, scores=scores)


@models
def test_a_wrong_parameter_is_refused_by_name(kind: type[Model]) -> None:
    with pytest.raises(ParameterError, match=f"{kind.name}.*no_such_thing"):
        parameters_of(kind, {"no_such_thing": 1})
    for field in kind.parameters_type.__struct_fields__:
        for wrong in ({"a": 1}, float("nan"), "no such value"):
            with pytest.raises(ParameterError, match=field):
                parameters_of(kind, {field: wrong})


@models
def test_what_a_model_offers_has_one_value_per_judge_and_per_segment(kind: type[Model]) -> None:
    model = rated(kind, log_of(kind))
    facts = model.judge_facts()
    for column in (facts.sensitivity, facts.reliability):
        assert column is None or (column.shape == (JUDGES,) and np.isfinite(column).all())
    told = model.segment_information(0, 1)
    assert (told is not None) == model.learns_segments
    assert told is None or told.shape == (SEGMENTS,)
    assert (model.bootstrap_parameters() is not None) == (kind.kind == "rankings" and model.board_scale() is None)


@models
def test_the_defaults_are_within_their_own_bounds(kind: type[Model]) -> None:
    defaults = create(kind).parameters
    assert parameters_of(kind, msgspec.to_builtins(defaults)) == defaults
