"""The board of direct assessment against its definition, computed anew from the list of scores."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.assessment_lines import run
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.options import CampaignOptions
from streams.core.models.score_cells import RepeatedScores
from streams.core.ranking.grouped_counts import group_of
from streams.wire.events import EPOCH, CampaignSettings, Judgment, Row

SCALES = pytest.mark.parametrize("scale", ["z", "raw"])


def scores(count: int, *, judges: int = 9, segments: int = 12, seed: int = 0) -> list[Judgment]:
    """Draw scores of three systems. Some judges score an output more than twice."""
    random = np.random.default_rng(seed)
    return [
        Judgment(
            id=f"{number}",
            campaign="c",
            segment=f"s{random.integers(segments)}",
            judge=f"j{random.integers(judges)}",
            systems=(f"m{system}",),
            score=float(np.clip(random.normal(50 + 5 * system, 12), 0, 100)),
            at=EPOCH,
        )
        for number in range(count)
        for system in [int(random.integers(3))]
    ]


def campaign_of(log: list[Judgment], *, scale: str = "z", limit: int | None = None) -> Campaign:
    settings = CampaignSettings(model="assessment", parameters={"scale": scale})
    options = CampaignOptions() if limit is None else CampaignOptions(max_segments=limit)
    campaign = Campaign("c", settings, options=options)
    campaign.apply(range(len(log)), log)
    return campaign


def board(log: list[Judgment], *, scale: str = "z", limit: int | None = None) -> tuple[Row, ...]:
    return campaign_of(log, scale=scale, limit=limit).leaderboard().rows


def means(log: list[Judgment], scales: dict[str, tuple[float, float]]) -> dict[str, tuple[float, int]]:
    """Return the mean over segments of the mean of each segment, and the number of segments."""
    outputs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in log:
        middle, unit = scales[each.judge]
        outputs[each.systems[0]][each.segment].append(((each.score or 0.0) - middle) / unit)
    return {
        system: (float(np.mean([np.mean(found) for found in by_segment.values()])), len(by_segment))
        for system, by_segment in outputs.items()
    }


def is_line(log: list[Judgment], key: str, *, z: bool) -> bool:
    """Return whether m2 is surely better than m1, by leaving out each group of judges or segments."""
    given_by: dict[str, list[float]] = defaultdict(list)
    for each in log:
        assert each.score is not None
        given_by[each.judge].append(each.score)
    scales = {
        judge: (float(np.mean(x)), float(np.std(x, ddof=1))) if z else (0.0, 1.0) for judge, x in given_by.items()
    }
    whole = means(log, scales)
    groups = sorted({group_of(getattr(each, key)) for each in log})
    moved = []
    for group in groups:
        rest = means([each for each in log if group_of(getattr(each, key)) != group], scales)
        moved.append((rest["m2"][0] - whole["m2"][0]) - (rest["m1"][0] - whole["m1"][0]))
    spread = 1.0 if z else 100 / np.sqrt(12)
    variance = (len(groups) - 1) * np.var(moved) + sum((spread / whole[name][1]) ** 2 for name in ("m1", "m2"))
    fewest = min(
        len({group_of(getattr(each, key)) for each in log if each.systems[0] == name}) for name in ("m1", "m2")
    )
    return bool(whole["m2"][0] - whole["m1"][0] > stats.t.ppf(0.975, fewest - 1) * np.sqrt(variance))


@SCALES
@pytest.mark.parametrize("seed", range(6))
def test_a_line_is_drawn_where_leaving_out_each_group_says_so(scale: str, seed: int) -> None:
    log = [each for each in scores(160, seed=seed) if each.systems[0] != "m0"]
    rows = board(log, scale=scale)
    by_segment, by_judge = (is_line(log, key, z=scale == "z") for key in ("segment", "judge"))
    assert rows[1].line_above == (("judges" if by_judge else "judgments") if by_segment else None)
    assert [row.judge_rank_low for row in rows] == ([1, 2] if by_segment and by_judge else [1, 1])


def test_the_seeds_of_the_test_above_draw_lines_of_both_kinds_and_none() -> None:
    found = {
        board([each for each in scores(160, seed=seed) if each.systems[0] != "m0"])[1].line_above for seed in range(6)
    }
    assert len(found) >= 2


@SCALES
def test_the_scores_are_those_of_the_online_model(scale: str) -> None:
    campaign = campaign_of(scores(300), scale=scale)
    mean, _ = campaign.model.scores()
    names = campaign.tables.systems.names
    for row in campaign.leaderboard().rows:
        assert row.score == pytest.approx(float(mean[names.index(row.system)]), abs=1e-12)


@SCALES
@settings(max_examples=15)
@given(order=st.permutations(range(90)), limit=st.sampled_from([None, 3]))
def test_any_order_of_the_scores_gives_the_same_board_bit_for_bit(
    scale: str, order: list[int], limit: int | None
) -> None:
    log = scores(90, judges=6, segments=4 if limit is None else 3)  # cells with up to eight scores
    assert board([log[k] for k in order], scale=scale, limit=limit) == board(log, scale=scale, limit=limit)


@given(st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=12))
def test_sums_of_repeated_scores_are_exact_in_any_order(values: list[float]) -> None:
    values = [round(value, 6) for value in values]
    sums = RepeatedScores.of(values[0])
    for value in values[1:]:
        sums = sums.add(value)
    exact = sum(map(Fraction, values))
    assert Fraction(sums.total) + Fraction(sums.rest) == exact
    middle = exact / len(values)
    within = float(sum((Fraction(value) - middle) ** 2 for value in values))
    assert sums.within(len(values)) == pytest.approx(within, rel=1e-9, abs=1e-12)


def test_below_five_judges_nothing_is_said_about_others() -> None:
    log = scores(200, judges=4)
    assert all(row.judge_rank_low is None and row.line_above != "judges" for row in board(log))
    assert all(row.judge_rank_low is not None for row in board(scores(200, judges=5)))


def test_one_segment_or_one_judge_per_system_proves_nothing() -> None:
    assert not any(row.line_above for row in board(scores(400, segments=1)))
    log = [each for each in scores(600, judges=6) if (int(each.judge[1]) == 0) == (each.systems[0] == "m2")]
    last, *others = sorted(board(log, scale="raw"), key=lambda row: row.system, reverse=True)
    assert (last.judge_rank_low, last.judge_rank_high) == (1, 3)
    assert others


def test_systems_without_a_score_may_have_any_rank() -> None:
    campaign = Campaign("c", CampaignSettings(model="assessment", systems=("new", "m1")))
    assert [(row.rank_low, row.rank_high) for row in campaign.leaderboard().rows] == [(1, 2), (1, 2)]
    log = scores(200)
    campaign = Campaign("c", CampaignSettings(model="assessment", systems=("m0", "m1", "m2", "new")))
    campaign.apply(range(len(log)), log)
    new = next(row for row in campaign.leaderboard().rows if row.system == "new")
    assert (new.rank_low, new.rank_high, new.judgments) == (1, 4, 0)


def test_equal_systems_rarely_get_a_line() -> None:
    for judges, segments in ((2, 1), (2, 10)):
        lines = [run(judges, segments, 0.0, 0.0, seed) for seed in range(30)]
        assert sum(line.by_segment for line in lines) <= (0 if segments == 1 else 4)
