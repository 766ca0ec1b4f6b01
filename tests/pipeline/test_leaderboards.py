"""Leaderboards are settled beside the rating of batches, never twice, and never emitted after newer ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.core.campaign import board as boards
from streams.core.ranking.settled import settle
from streams.errors import HistoryGone
from streams.pipeline import leaderboards
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import Leaderboard, encode
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.wire.outputs import Output

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key", snapshot_judgments=10))
HOME = "judgments.v1/0"
NAME = "campaign-0"


def log_of(entries: Iterable[events.Judgment | events.Command]) -> list[Record]:
    return [Record(offset, entry.campaign.encode(), encode(entry)) for offset, entry in enumerate(entries)]


def opened(log: Sequence[Record], store: MemoryStore | None = None) -> Processor:
    return Processor.open("judgments.v1", 0, store or MemoryStore(), OPTIONS, read_log=log_reader(log))[0]


def found(outputs: Iterable[Output]) -> list[Leaderboard]:
    return [
        msgspec.json.decode(each.value, type=Leaderboard)
        for each in outputs
        if each.topic == topics.LEADERBOARDS.name and each.value
    ]


CROWD = crowd_log(120, systems=5, seed=3)
LOG = log_of(CROWD)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rankings of each board that is settled."""
    rankings: list[int] = []

    def count(counts: object, **options: float) -> object:
        rankings.append(counts.rankings)  # type: ignore[attr-defined]
        return settle(counts, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(boards, "settle", count)
    return rankings


def test_the_same_counts_are_not_settled_twice(settled: list[int]) -> None:
    log = log_of([*CROWD[:15], CROWD[3], events.Pause(id="p", campaign=NAME, at=NOON), CROWD[4]])
    processor = opened(log)
    processor.process(log[:15])
    (in_batch,) = settled
    assert in_batch == 15
    processor.process(log[15:16])
    assert [board.sequence for board in found(processor.snapshots())] == [16]
    campaign = processor.campaigns[NAME]
    assert campaign.leaderboard() == campaign.leaderboard()
    assert settled == [15]


def test_only_the_leaderboards_of_campaigns_that_changed_are_due() -> None:
    log = log_of([*(crowd := crowd_log(40, campaigns=2, systems=5, seed=4)), crowd[3], crowd[4]])
    options = replace(OPTIONS, snapshot_judgments=0)
    processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), options)
    processor.process(log[:40])
    names = sorted(processor.campaigns)
    assert sorted(processor.boards.find_due()) == names
    processor.snapshots()
    assert processor.boards.find_due() == []
    processor.process(log[40:41])  # a duplicate is a record, too
    assert processor.boards.find_due() == [crowd[3].campaign]
    processor.snapshots()
    processor.rest(OPTIONS.idle_seconds)
    processor.rest(2.0 * OPTIONS.idle_seconds)
    assert processor.campaigns == {}
    assert processor.boards.find_due() == []
    processor.process(log[41:])
    assert processor.boards.find_due() == [crowd[4].campaign]


def test_a_draft_is_of_its_moment_whatever_is_rated_before_it_is_settled() -> None:
    processor = opened(LOG)
    processor.process(LOG[:25])
    processor.process(LOG[25:28])
    _, (draft,), _ = processor.boards.draft(processor.boards.find_due())
    processor.process(LOG[28:29])
    (board,) = found(processor.boards.finish([draft.settle()], now=0.0))
    calm = opened(LOG)
    calm.process(LOG[:28])
    assert board == calm.campaigns[NAME].leaderboard()
    assert processor.boards.find_due() == [NAME], "the judgment after the draft makes the next one due"


@pytest.mark.parametrize("newer", ["batch", "deletion"])
def test_a_draft_is_not_emitted_after_a_newer_leaderboard_or_a_deletion(newer: str) -> None:
    log = log_of([*CROWD[:28], events.Delete(id="d", campaign=NAME, at=NOON)]) if newer == "deletion" else LOG
    processor = opened(log)
    processor.process(log[:28])
    processor._campaigns.leaderboards.mark_due(NAME)
    _, (draft,), _ = processor.boards.draft(processor.boards.find_due())
    processor.process(log[28:35])
    assert processor.boards.finish([draft.settle()], now=0.0) == ()


def test_a_large_leaderboard_is_settled_in_no_batch_and_seldom(
    monkeypatch: pytest.MonkeyPatch, settled: list[int]
) -> None:
    monkeypatch.setattr(leaderboards, "LARGE", 5)
    close = events.Close(id="close", campaign=NAME, at=NOON)
    log = log_of([*CROWD, close])
    processor = opened(log)
    for first in range(0, 100, 10):
        assert found(processor.process(log[first : first + 10])) == []
    assert settled == []
    _, (draft,), _ = processor.boards.draft(processor.boards.find_due(1000.0))
    board = draft.settle()
    assert len(found(processor.boards.finish([board], now=1000.0))) == 1
    processor.process(log[100:])
    again = 1000.0 + leaderboards.RARE * board.seconds
    assert processor.boards.find_due(again - board.seconds) == []
    assert processor.boards.find_due(again + board.seconds) == [NAME]
    assert processor.rest(1e9) == ()
    assert list(processor.campaigns) == [NAME], "it leaves memory after its last leaderboard"
    assert found(processor.snapshots())[-1].judgments == 120
    assert settled == [100, 120]


def test_after_a_retraction_the_board_is_the_one_of_a_campaign_that_never_saw_the_judgments() -> None:
    gone = {CROWD[2].id, CROWD[40].id}
    retract = events.Retract(id="r", campaign=NAME, at=NOON, judgments=tuple(sorted(gone)))
    log = log_of([*CROWD[:60], retract, *CROWD[60:90]])
    processor = opened(log)
    (*_, pending) = found(processor.process(log))
    assert pending.pending is not None
    assert "is being rated again without what is left out now" in pending.pending
    assert pending.judgments == 60
    (*_, board) = found(processor.rate_again()[NAME])
    never = log_of(each for each in CROWD[:90] if each.id not in gone)
    other = opened(never)
    other.process(never)
    fields = ("rows", "judges", "margin", "elo_per_score", "outlook", "fragility", "cautions", "judgments", "pending")
    expected = other.campaigns[NAME].leaderboard()
    assert [getattr(board, name) for name in fields] == [getattr(expected, name) for name in fields]
    assert board.left_out == {"retracted": 2}


def old_layout(store: MemoryStore) -> None:
    """Store the pairs of a campaign as layout 3 had them."""
    rows = store._campaigns[NAME].tables["pairs"]
    for pair in rows:
        rows[pair] = b'{"wins":1,"ties":0,"losses":0}'


def test_a_campaign_of_an_earlier_layout_is_rated_again_by_itself() -> None:
    store = MemoryStore()
    opened(LOG, store).process(LOG[:80])
    old_layout(store)
    processor = opened(LOG, store)
    assert found(processor.snapshots()) == [], "no ranges are guessed"
    quarantine = processor.quarantined[NAME].quarantine
    assert (quarantine.cause, quarantine.offset) == ("outdated", 80)
    assert "earlier version" in quarantine.error
    processor.process(LOG[80:100])
    (*_, board) = found(processor.rate_again()[NAME])
    calm = MemoryStore()
    expected = opened(LOG, calm)
    expected.process(LOG[:100])
    assert board == expected.campaigns[NAME].leaderboard()
    assert state_hash(store, [HOME]) == state_hash(calm, [HOME])
    assert processor.quarantined == {}


def test_a_campaign_of_an_earlier_layout_whose_log_is_gone_stays_set_apart_and_says_why() -> None:
    def gone(start: int, before: int) -> list[list[Record]]:
        raise HistoryGone(f"the log begins later than {start}, {before}")

    store = MemoryStore()
    opened(LOG, store).process(LOG[:80])
    old_layout(store)
    processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=gone)
    assert found(processor.snapshots()) == []
    processor.rate_again()
    quarantine = processor.quarantined[NAME].quarantine
    assert (quarantine.cause, quarantine.error) == ("outdated", "the log begins later than 0, 80")
    assert processor.reruns.waiting() == []


def test_a_campaign_of_scores_of_an_earlier_layout_goes_on() -> None:
    settings = events.CampaignSettings(model="assessment")
    scores = [judgment(n, campaign=NAME, systems=("ab"[n % 2],), ranks=None, score=float(n)) for n in range(9)]
    log = log_of([events.Create(id="create", campaign=NAME, at=NOON, settings=settings), *scores])
    store = MemoryStore()
    opened(log, store).process(log[:5])
    old_layout(store)
    processor = opened(log, store)
    processor.process(log[5:])
    assert processor.quarantined == {}
    assert processor.campaigns[NAME].counts.judgments == 9
