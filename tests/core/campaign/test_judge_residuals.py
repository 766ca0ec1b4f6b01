"""A running campaign's sums of votes minus predictions: exact in any batches, restored, renamed, and what they find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from benchmarks.judge_attacks import simulate
from streams.core import kernels
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.judge_residuals import JudgeResiduals
from streams.core.models import JudgmentBatch
from streams.core.ranking.grouped_counts import GroupedCounts
from streams.core.ranking.settled import settle
from streams.wire.events import ForgetJudge
from tests.builders import NOON, crowd_log, stored_campaign, unzip
from tests.core.judges.logs import log_of

if TYPE_CHECKING:
    from streams.wire.events import Judgment

LOG = [replace(each, campaign="c") for each in crowd_log(90, seed=4, ways=3)]
SMALL = {"systems": 8, "judges": 30, "judgments": 1500}


def rows_of(log: list[Judgment], *, batch: int) -> dict[str, bytes]:
    campaign = Campaign("c")
    rows: dict[str, bytes] = {}
    for start in range(0, len(log), batch):
        part = list(enumerate(log))[start : start + batch]
        rows |= campaign.drain_changes(campaign.apply(*unzip(part)), ()).tables["residuals"]
    return rows


def shuffled(kind: str, share: float, seed: int) -> tuple[list[Judgment], list[str]]:
    attack = simulate(kind, share, seed, **SMALL)
    log = log_of(attack.votes)
    order = np.random.default_rng(seed).permutation(len(log))
    return [log[k] for k in order], [attack.votes.judges[k] for k in np.flatnonzero(attack.bad)]


def rated(log: list[Judgment]) -> Campaign:
    campaign = Campaign("c")
    campaign.apply(*unzip(list(enumerate(log))))
    return campaign


def test_the_batches_do_not_matter() -> None:
    assert rows_of(LOG, batch=90) == rows_of(LOG, batch=7) == rows_of(LOG, batch=1)


def test_a_restored_campaign_goes_on_to_the_last_bit() -> None:
    campaign = Campaign("c")
    half = campaign.drain_changes(campaign.apply(*unzip(list(enumerate(LOG))[:50])), ())
    restored = Campaign.restore("c", stored_campaign([half]))
    rest = list(enumerate(LOG))[50:]
    expected = campaign.drain_changes(campaign.apply(*unzip(rest)), ()).tables["residuals"]
    assert restored.drain_changes(restored.apply(*unzip(rest)), ()).tables["residuals"] == expected
    assert len(expected) > 3


def test_the_row_of_a_forgotten_judge_is_renamed() -> None:
    campaign = Campaign("c")
    before = campaign.drain_changes(campaign.apply(*unzip(list(enumerate(LOG)))), ()).tables["residuals"]
    forget = ForgetJudge(id="forget", campaign="c", at=NOON, judge=LOG[0].judge)
    change = campaign.drain_changes(campaign.apply([90], [forget]), ())
    (name,) = (key for key in change.tables["residuals"] if key.startswith("judge "))
    assert change.tables["residuals"][name] == before[f"judge {LOG[0].judge}"]
    assert f"judge {LOG[0].judge}" in change.removed["residuals"]
    assert LOG[0].judge not in name


def test_compiled_and_plain_sums_have_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = rows_of(LOG, batch=90)
    compiled = kernels.compiled("residuals")
    monkeypatch.setattr(
        "streams.core.campaign.judge_residuals.kernels.suited",
        lambda name, updates: compiled if name == "residuals" else kernels.plain(name),
    )
    assert rows_of(LOG, batch=90) == plain


def test_the_abilities_that_are_followed_are_close_to_the_fit() -> None:
    log, _ = shuffled("none", 0.0, 3)
    board = settle(GroupedCounts.of(log), beta=0.5**0.5, deviation=1.0)
    residuals = rated(log)._state.residuals
    followed = residuals._ability[[rated(log).tables.systems.index[name] for name in board.counts.systems]]
    assert np.corrcoef(followed, board.score)[0, 1] > 0.98
    assert residuals._shared[0] == pytest.approx(board.margin, rel=0.15)


@pytest.mark.parametrize(("kind", "share"), [("chosen", 0.1), ("half", 0.0), ("position", 0.1)])
def test_judges_who_manipulate_are_flagged_and_honest_ones_are_not(kind: str, share: float) -> None:
    log, bad = shuffled(kind, share, 6)
    campaign = rated(log)
    flags = campaign.judges_so_far().flags()
    assert sorted(flags) == bad
    words = "for the output shown first" if kind == "position" else "for s04"
    assert all(any(words in flag.message for flag in flags[judge]) for judge in bad)
    assert "flagged_judges" in {caution.code for caution in campaign.leaderboard().cautions}


def test_an_honest_crowd_gives_no_caution_about_judges() -> None:
    assert rated(shuffled("none", 0.0, 7)[0]).judges_so_far().cautions() == ()


def test_the_sums_of_a_judge_take_few_bytes() -> None:
    rows = rows_of(shuffled("none", 0.0, 8)[0], batch=1500)
    assert max(len(row) for row in rows.values()) < 200


def test_scores_change_nothing() -> None:
    batch = JudgmentBatch(
        systems=np.array([0]),
        ranks=np.array([1]),
        starts=np.array([0, 1]),
        judges=np.array([0]),
        segments=np.array([0]),
        scores=np.array([50.0]),
    )
    residuals = JudgeResiduals()
    residuals.apply(batch, systems=1, judges=1)
    assert residuals.drain_rows(["a"], ["j"]) == {}
