"""The boards of a log over time: each is the board of the judgments up to its moment, to the last bit."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

import streams
from streams.offline.history import MOMENTS, BoardHistory, HistoryRow, moment_step
from streams.offline.planning import plan_ranking
from streams.reports.scale import on_scale
from streams.wire.events import EPOCH
from tests.builders import crowd_log

if TYPE_CHECKING:
    from streams.offline.planning import RankingPlan
    from streams.wire.events import Judgment, Leaderboard

LOG = crowd_log(230, campaigns=2, systems=5)
NAMES = ("campaign-0", "campaign-1")


def history_of(log: list[Judgment], plan: RankingPlan, every: int, batch: int = 70) -> BoardHistory:
    history = BoardHistory(plan, lambda _name: every)
    history.rate([log[start : start + batch] for start in range(0, len(log), batch)])
    return history


def rows_of(board: Leaderboard, log: list[Judgment]) -> list[HistoryRow]:
    """Return the rows of a board as the history of its log has them."""
    at = max(each.at for each in log if each.campaign == board.campaign)
    return [
        HistoryRow(
            campaign=board.campaign,
            system=row.system,
            judgments=board.judgments,
            at=at,
            rank=row.rank,
            rank_low=row.rank_low,
            rank_high=row.rank_high,
            cluster=row.cluster,
            island=row.island,
            score=row.score,
            deviation=row.deviation,
        )
        for row in board.rows
    ]


@pytest.mark.parametrize("model", ["trueskill", "expected-wins", "elo", "glicko2"])
def test_each_board_is_the_ranking_of_the_judgments_before_it(model: str) -> None:
    history = history_of(LOG, plan_ranking(model), every=50)
    expected = []
    for name in NAMES:
        mine = [each for each in LOG if each.campaign == name]
        for count in (50, 100, 115):  # 115 is the end
            expected += rows_of(streams.rank(mine[:count], model=model).leaderboards[0], mine[:count])
    assert sorted(history.rows, key=lambda row: (row.campaign, row.judgments)) == expected
    assert not history.left_out


def test_scores_have_a_history_too() -> None:
    log = [replace(each, systems=each.systems[:1], ranks=None, score=float(7 * k % 50)) for k, each in enumerate(LOG)]
    rows = history_of(log, plan_ranking("assessment"), every=1000).rows
    assert rows == [row for board in streams.rank(log).leaderboards for row in rows_of(board, log)]


@pytest.mark.parametrize("batch", [1, 17, 500])
def test_batches_do_not_matter(batch: int) -> None:
    plan = plan_ranking()
    assert history_of(LOG, plan, every=40, batch=batch).rows == history_of(LOG, plan, every=40).rows


def test_there_are_about_a_hundred_moments() -> None:
    for records in (1, 99, 100, 101, 150, 3000, 10_001):
        assert min(records, MOMENTS) / 2 <= records / moment_step(records) <= MOMENTS


def test_duplicates_pass_without_being_counted() -> None:
    mine = [each for each in LOG if each.campaign == NAMES[0]][:30]
    counts = [row.judgments for row in history_of([*mine[:20], *mine[:5], *mine[20:]], plan_ranking(), every=10).rows]
    assert [count for count, _ in groupby(counts)] == [10, 20, 25, 30]


def test_the_time_is_the_latest_one_in_a_log_out_of_order() -> None:
    log = [replace(each, at=LOG[-number].at) for number, each in enumerate(LOG[:20], 1)]
    assert {row.at for row in history_of(log, plan_ranking(), every=5).rows} == {LOG[-1].at, LOG[-2].at}


def test_a_log_without_times_has_none() -> None:
    log = [replace(each, at=EPOCH) for each in LOG[:20]]
    assert {row.at for row in history_of(log, plan_ranking(), every=5).rows} == {None}


def test_a_board_that_can_t_be_made_yet_is_left_out_and_counted() -> None:
    mine = [each for each in LOG if each.campaign == NAMES[0]]
    late = [*(each for each in mine if "system-4" not in each.systems)][:20]
    log = [*late, *(each for each in mine if "system-4" in each.systems)][:40]
    history = BoardHistory(plan_ranking(), lambda _: 10, finish=partial(on_scale, scale="elo", anchor="system-4"))
    history.rate([log])
    assert sorted({row.judgments for row in history.rows}) == [30, 40]
    assert history.left_out == 2
    assert "'system-4'" in history.first_error
