"""A running campaign's sums of votes minus predictions: exact in any batches, restored, renamed, and what they find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from benchmarks.judge_attacks import simulate
from streams.core import kernels
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.judge_residuals import JUDGE, JudgeResiduals, decode_row, join_pages
from streams.core.judges import Votes, examine_judges, judge_cautions
from streams.core.models import JudgmentBatch
from streams.core.ranking.grouped_counts import GroupedCounts
from streams.core.ranking.settled import settle
from streams.wire.events import CampaignSettings, Create, ForgetJudge
from tests.builders import NOON, crowd_log, judgment, stored_campaign, unzip
from tests.core.judges.logs import log_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.wire.events import Judgment

LOG = [replace(each, campaign="c") for each in crowd_log(90, seed=4, ways=3)]
MANY = [replace(each, campaign="c") for each in crowd_log(600, systems=120, seed=5)]
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
    assert rows_of(MANY, batch=600) == rows_of(MANY, batch=7) == rows_of(MANY, batch=1)


def test_a_judgment_among_many_systems_writes_only_the_pages_of_its_systems() -> None:
    campaign = rated(MANY)
    campaign.discard_changes()
    index = campaign.tables.systems.index
    first, early, late = (name for number in (0, 33, 80) for name, place in index.items() if place == number)
    one, other = (judgment(900 + n, systems=(early, name), judge="judge-1") for n, name in enumerate((late, first)))
    rows = campaign.drain_changes(campaign.apply([600], [one]), ()).tables["residuals"]
    assert rows.keys() == {
        "shared",
        f"system {early}",
        f"system {late}",
        "judge judge-1",
        "page 1 judge-1",
        "page 4 judge-1",
    }
    assert sum(map(len, rows.values())) < 900
    rows = campaign.drain_changes(campaign.apply([601], [other]), ()).tables["residuals"]
    assert rows.keys() == {"shared", f"system {early}", f"system {first}", "judge judge-1", "page 1 judge-1"}


def test_rows_of_an_earlier_layout_are_divided_with_the_next_judgment_of_their_judge() -> None:
    campaign, log = Campaign("c"), list(enumerate(MANY))
    changes = [
        campaign.drain_changes(campaign.apply(*unzip(part)), ()) for part in (log[:598], log[598:599], log[599:])
    ]
    divided, earlier = stored_campaign(changes).tables["residuals"], stored_campaign(changes[:1])
    rows = earlier.tables["residuals"] = {
        key: bytes((8, 8)) + np.array(row, "<i8").tobytes() if key.startswith(JUDGE) else row
        for key, row in join_pages(earlier.tables["residuals"]).items()
    }
    restored = Campaign.restore("c", earlier)
    for offset in (598, 599):
        written = restored.drain_changes(restored.apply([offset], [MANY[offset]]), ()).tables["residuals"]
        rows |= written
        of_judge = {key for key in divided if key.endswith(f" {MANY[offset].judge}")}
        assert {key for key in written if key.startswith((JUDGE, "page "))} == of_judge
    assert join_pages(rows) == join_pages(divided)
    again = replace(MANY[599], id="again")
    expected = campaign.drain_changes(campaign.apply([600], [again]), ()).tables["residuals"]
    assert restored.drain_changes(restored.apply([600], [again]), ()).tables["residuals"] == expected, "once"


@pytest.mark.parametrize("log", [LOG, MANY])
def test_a_restored_campaign_goes_on_to_the_last_bit(log: list[Judgment]) -> None:
    campaign = Campaign("c")
    half = campaign.drain_changes(campaign.apply(*unzip(list(enumerate(log))[:50])), ())
    restored = Campaign.restore("c", stored_campaign([half]))
    rest = list(enumerate(log))[50:]
    expected = campaign.drain_changes(campaign.apply(*unzip(rest)), ()).tables["residuals"]
    assert restored.drain_changes(restored.apply(*unzip(rest)), ()).tables["residuals"] == expected
    assert len(expected) > 3


def test_the_pages_of_a_forgotten_judge_are_renamed() -> None:
    campaign = Campaign("c")
    first = campaign.drain_changes(campaign.apply(*unzip(list(enumerate(MANY)))), ())
    forget = ForgetJudge(id="forget", campaign="c", at=NOON, judge=MANY[0].judge)
    change = campaign.drain_changes(campaign.apply([600], [forget]), ())
    before, after = (stored_campaign(changes).tables["residuals"] for changes in ([first], [first, change]))
    assert not any(key.endswith(f" {MANY[0].judge}") for key in after)
    assert sorted(before.values()) == sorted(after.values())
    Campaign.restore("c", stored_campaign([first, change]))


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


def biased(seed: int, *, lucky: float, best_first: bool = False) -> list[Judgment]:
    """Draw a log in which everybody prefers the first system in a share of the votes, whatever they saw."""
    random, log = np.random.default_rng(seed), shuffled("none", 0.0, seed)[0]
    for k, each in enumerate(log):
        ranks = (1, 2) if random.random() < lucky else each.ranks
        if best_first and each.systems[0] > each.systems[1]:  # s00 is the best system
            each, ranks = replace(each, systems=each.systems[::-1]), (each.ranks or ())[::-1]
        log[k] = replace(each, ranks=ranks)
    return log


def test_a_bias_by_position_is_a_caution_of_the_leaderboard_as_it_is_in_rank() -> None:
    log = biased(9, lucky=0.2)
    campaign, report = rated(log), examine_judges(Votes.of(log))
    (live,) = (each for each in campaign.leaderboard().cautions if each.code == "position_bias")
    (exact,) = (each for each in judge_cautions(report) if each.code == "position_bias")
    bias = campaign.judges_so_far().position_bias()
    assert bias is not None
    assert report.position_bias is not None
    assert bias.share == report.position_bias.share
    assert all(f"The output shown first was preferred in {bias.share:.0%}" in each.message for each in (live, exact))
    assert bias.predicted == pytest.approx(report.position_bias.predicted, abs=0.01)
    assert bias.z == pytest.approx(report.position_bias.z, rel=0.1)


def test_better_systems_that_are_shown_first_are_no_bias_by_position() -> None:
    bias = rated(biased(10, lucky=0.0, best_first=True)).judges_so_far().position_bias()
    assert bias is not None
    assert bias.share > 0.7
    assert not bias.present


def test_judges_who_are_flagged_for_their_position_make_no_bias_of_all() -> None:
    log = log_of(simulate("position", 0.25, 6, systems=6, judges=60, judgments=3000).votes)
    campaign = rated([log[k] for k in np.random.default_rng(6).permutation(len(log))])
    assert len(campaign.judges_so_far().flags()) >= 14
    assert {caution.code for caution in campaign.judges_so_far().cautions()} == {"flagged_judges"}


def test_a_row_without_preferred_positions_is_loaded_with_estimates() -> None:
    log = biased(9, lucky=0.2)
    campaign = Campaign("c")
    stored = stored_campaign([campaign.drain_changes(campaign.apply(*unzip(list(enumerate(log)))), ())])
    rows = stored.tables["residuals"]
    for key in [key for key in rows if key.startswith("judge ")]:
        row = decode_row(rows[key])
        rows[key] = msgspec.msgpack.encode([*row[:7], *row[10:]])
    restored, known = Campaign.restore("c", stored), campaign.judges_so_far()
    loaded = restored.judges_so_far()
    assert loaded.flags() == known.flags()
    assert loaded.units.tolist() == known.units.tolist()
    assert loaded.residuals.cell_units.tolist() == known.residuals.cell_units.tolist()
    bias, exact = loaded.position_bias(), known.position_bias()
    assert bias is not None
    assert exact is not None
    assert (bias.z, bias.present) == (exact.z, True)
    assert bias.share == pytest.approx(exact.share, abs=0.01)


def test_a_campaign_that_does_not_test_its_judges_flags_nobody() -> None:
    log, bad = shuffled("chosen", 0.1, 6)
    create = Create(id="create", campaign="c", at=NOON, settings=CampaignSettings(suspend_judges="off"))
    campaign = Campaign("c")
    campaign.apply(*unzip(list(enumerate([create, *log]))))
    assert (len(bad), campaign.judges_so_far().flags(), campaign.judges_so_far().alarms()) == (3, {}, ())
    assert campaign.judges_so_far().cautions() == ()


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


@pytest.mark.parametrize("largest", [0, 127, 128, -128, 32_767, -32_768, 2**31 - 1, 2**31, -(2**40)])
@pytest.mark.parametrize("load", [kernels.plain, kernels.compiled])
def test_a_packed_row_keeps_every_sum(
    largest: int, load: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "suited", lambda name, _: load(name))
    residuals = JudgeResiduals()
    batch = JudgmentBatch(
        systems=np.array([2, 0, 1, 2]),
        ranks=np.array([1, 2, 1, 2]),
        starts=np.array([0, 2, 4]),
        judges=np.array([0, 1]),
        segments=np.array([0, 0]),
        scores=np.full(2, np.nan),
    )
    residuals.apply(batch, systems=3, judges=2)
    residuals._by_judge[0, 3], residuals._by_cell[0, 1], residuals._by_cell[3, 0] = largest, -1, largest
    sums, cells = residuals._by_judge.tolist(), residuals._by_cell.tolist()
    rows = residuals.drain_rows(["a", "b", "c"], ["x", "y"])
    assert decode_row(rows[JUDGE + "x"]) == [*sums[0], 0, *cells[1], 2, *cells[0]]
    assert decode_row(rows[JUDGE + "y"]) == [*sums[1], 1, *cells[2], 2, *cells[3]]


@pytest.mark.parametrize("row", [b"\1", b"\1\3" + bytes(10), b"\1\0" + bytes(10)])
def test_a_damaged_row_is_a_value_error_so_that_its_campaign_is_rated_again(row: bytes) -> None:
    with pytest.raises(ValueError, match="residuals"):
        decode_row(row)
