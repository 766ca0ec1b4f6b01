"""A forgotten judge: nothing that is stored names them, their judgments count, and a rerun ends in the same state."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from streams.core.campaign.pseudonyms import Pseudonyms, forgotten_name
from streams.pipeline.embedded import Embedded
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.replay.erasing import Erasure
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import CampaignSettings, encode
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    Event = events.Judgment | events.Command

HOME = "judgments.v1/0"
OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key", snapshot_judgments=0))
CROWD = [replace(each, campaign="c") for each in crowd_log(240, seed=5, ways=3)]
ANNA, BERT = "judge-1", "judge-2"


def pseudonym(judge: str) -> str:
    return Pseudonyms(b"key")[judge]


def forget(number: int, judge: str = ANNA) -> events.ForgetJudge:
    return events.ForgetJudge(id=f"forget-{number}", campaign="c", at=NOON, judge=judge)


def retract(number: int, judge: str = ANNA) -> events.Retract:
    return events.Retract(id=f"retract-{number}", campaign="c", at=NOON, judge=judge)


def live(log: Sequence[Event], *, batch: int) -> MemoryStore:
    """Process a log as it comes, in batches. A rerun is finished after the batch that begins it."""
    store = MemoryStore()
    stream = Embedded(Settings(judge_key="key", batch_records=batch, snapshot_judgments=0), store=store)
    for event in log:
        stream.publish(event)
        if batch == 1:
            stream.run()
    stream.run()
    return store


def rated_at_once(log: Sequence[Event]) -> MemoryStore:
    """Process a whole log in one batch, as a rebuild does."""
    records = [Record(offset, event.campaign.encode(), encode(event)) for offset, event in enumerate(log)]
    store = MemoryStore()
    processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(records))
    processor.process(records)
    list(chain.from_iterable(processor.rate_again().values()))
    return store


LOGS: dict[str, list[Event]] = {
    "forgotten": [*CROWD[:80], forget(1), *CROWD[80:]],
    "forgotten twice": [*CROWD[:80], forget(1), *CROWD[80:160], forget(2), *CROWD[160:]],
    "retracted, then forgotten": [*CROWD[:80], retract(1), *CROWD[80:120], forget(1), *CROWD[120:]],
    "retracted, forgotten, another retracted": [
        *CROWD[:80],
        retract(1),
        *CROWD[80:120],
        forget(1),
        *CROWD[120:160],
        retract(2, BERT),
        *CROWD[160:],
    ],
    "retracted again after they came back": [
        *CROWD[:60],
        retract(1),
        *CROWD[60:120],
        forget(1),
        *CROWD[120:160],
        retract(2),
        *CROWD[160:],
    ],
    "all of it": [
        *CROWD[:40],
        retract(1),
        events.ExcludeJudge(id="exclude", campaign="c", at=NOON, judge=ANNA),
        *CROWD[40:80],
        forget(1),
        *CROWD[80:120],
        retract(2, BERT),
        forget(2, BERT),
        *CROWD[120:160],
        retract(3),
        forget(3),
        events.Retract(id="ids", campaign="c", at=NOON, judgments=(CROWD[3].id, CROWD[130].id)),
        *CROWD[160:],
    ],
}


@pytest.mark.parametrize("log", LOGS.values(), ids=list(LOGS))
def test_live_in_any_batches_and_rated_at_once_it_is_the_same_state(log: list[Event]) -> None:
    hashes = {state_hash(store, [HOME]) for store in (live(log, batch=1), live(log, batch=37), rated_at_once(log))}
    assert len(hashes) == 1


MODELS = {
    "trueskill": CampaignSettings(judge_per_minute=1000),
    "trueskill-judges": CampaignSettings(model="trueskill-judges"),
    "grm": CampaignSettings(model="grm"),
    "assessment": CampaignSettings(model="assessment", replicas=0),
}


@pytest.mark.parametrize("settings", MODELS.values(), ids=list(MODELS))
def test_nothing_that_is_stored_names_them_and_the_board_stays(settings: CampaignSettings) -> None:
    scores = settings.model == "assessment"
    log = [
        replace(each, systems=each.systems[:1], ranks=None, score=float(number % 7)) if scores else each
        for number, each in enumerate(CROWD)
    ]
    create = events.Create(id="create", campaign="c", at=NOON, settings=settings)
    exclude = events.ExcludeJudge(id="exclude", campaign="c", at=NOON, judge=ANNA)
    before, after = (live([create, *log, exclude, *more], batch=1) for more in ((), (forget(1),)))
    kept, left = before.read("c"), after.read("c")
    assert kept is not None
    assert left is not None
    assert pseudonym(ANNA) in repr((kept.tables, kept.meta))
    assert pseudonym(ANNA) not in repr((left.tables, left.meta, left.outbox))
    assert left.problem is None
    name = forgotten_name("c", "forget-1", pseudonym(ANNA))
    assert sorted(left.tables["judges"]) == sorted({*kept.tables["judges"], name} - {pseudonym(ANNA)})
    assert len(left.tables["cells"]) == len(kept.tables["cells"])
    assert left.scores == kept.scores
    judge = after.read_judge("c", name)
    assert judge is not None
    assert judge.judgments == sum(each.judge == ANNA for each in log)
    assert judge.minute == 0, "their pace is dropped"
    # It can be restored, and goes on with the same bits as one that was never away.
    stream = Embedded(Settings(judge_key="key"), store=after)
    assert [row.score for row in stream.campaign("c").leaderboard().rows]


def test_who_comes_back_is_a_new_judge_and_is_not_excluded() -> None:
    exclude = events.ExcludeJudge(id="exclude", campaign="c", at=NOON, judge=ANNA)
    store = live([*CROWD, exclude, forget(1), judgment(900, judge=ANNA)], batch=1000)
    found, meta = store.read_judge("c", pseudonym(ANNA)), store.read_meta("c")
    assert found is not None
    assert meta is not None
    assert (found.judgments, meta.status.excluded, meta.counts.rejected) == (1, (), 0)


def test_a_log_in_which_the_name_stands_for_the_judge_gives_the_same_state() -> None:
    """A copy of the log replaces the judge before the command, and in it."""
    name = f"~{forgotten_name('c', 'forget-1', pseudonym(ANNA))}"
    copied: list[Event] = [replace(each, judge=name) if each.judge == ANNA else each for each in CROWD[:80]]
    stores = [
        live([*begin, forget(1, judge), *CROWD[80:]], batch=30) for begin, judge in ((CROWD[:80], ANNA), (copied, name))
    ]
    assert state_hash(stores[0], [HOME]) == state_hash(stores[1], [HOME])


def test_a_judge_who_was_sent_under_the_name_of_a_forgotten_one_stays_apart() -> None:
    name = forgotten_name("c", "forget-1", pseudonym(ANNA))
    store = live([judgment(900, judge=f"~{name}"), *CROWD, forget(1)], batch=1000)
    stored = store.read("c")
    assert stored is not None
    assert pseudonym(ANNA) not in repr(stored)
    assert {name, f"{name}-"} <= stored.tables["judges"].keys()


def test_the_status_is_announced_without_the_excluded_judge() -> None:
    stream = Embedded(Settings(judge_key="key"))
    log: list[Event] = [*CROWD[:9], events.ExcludeJudge(id="e", campaign="c", at=NOON, judge=ANNA), forget(1)]
    for event in log:
        stream.publish(event)
    stream.run()
    values = [record.value or b"" for record in stream.log.all(topics.CAMPAIGNS.name)]
    assert pseudonym(ANNA).encode() in values[-2]
    assert pseudonym(ANNA).encode() not in values[-1]


@pytest.mark.parametrize("log", LOGS.values(), ids=list(LOGS))
def test_a_copy_of_the_log_without_the_judge_gives_the_same_board(log: list[Event]) -> None:
    erasure = Erasure("key", max_bytes=1_000_000)
    records = [Record(offset, b"c", encode(event)) for offset, event in enumerate(log)]
    for record in records:
        erasure.learn(record)
    copied = [erasure.copy(record)[1] for record in records]
    assert erasure.counts.ids > 200
    (first, *_) = (offset for offset, event in enumerate(log) if isinstance(event, events.ForgetJudge))
    assert pseudonym(ANNA).encode() not in b"".join(copied[: first + 1])
    assert b'"judge-' not in b"".join(copied)
    campaigns = []
    for each, key in (([encode(event) for event in log], "key"), (copied, "not used")):
        stream = Embedded(Settings(judge_key=key, batch_records=50))
        for value in each:
            stream.log.append(topics.JUDGMENTS.name, b"c", value)
        stream.run()
        campaigns.append(stream.campaign("c"))
    assert campaigns[0].leaderboard() == campaigns[1].leaderboard()
    assert campaigns[0].counts == campaigns[1].counts


def test_a_copy_empties_what_no_campaign_has() -> None:
    erasure = Erasure("key", max_bytes=1_000_000)
    bad = [None, b"", b"not JSON of judge-1", b'{"judge":"judge-1"}', encode(judgment(1, judge="judge-1"))]
    copied = [erasure.copy(Record(0, b"judge-1", value), is_home=lambda _: False) for value in bad]
    copied.append(erasure.copy(Record(0, b"c", encode(judgment(1)), NOON.timestamp() - 3600)))  # from the future
    assert copied == [(None, b"{}")] * 6
    assert erasure.counts.emptied == 6
