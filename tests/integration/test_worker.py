"""The worker on a real Kafka and a real Redis: nothing lost, nothing doubled, the same bits as embedded."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.core.campaign.state import CampaignMeta, StoredCampaign, SystemRow, decode_row
from streams.pipeline.embedded import Embedded
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.originals import without_judge
from streams.pipeline.processor import Processor
from streams.stores.commit import Outcomes
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import encode
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.pipeline.test_processor import POISON
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from streams.stores import Lease
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

SCHEMAS = Path(__file__).parents[2] / "schemas"
Published = list[tuple[bytes | None, bytes | None]]


def published(count: int, *, seed: int = 0) -> Published:
    """Mix judgments of three campaigns with repeats and with bad records."""
    chance = random.Random(seed)
    records: Published = []
    poison = [value for value, _, _ in POISON.values() if value is None or len(value) < 10_000]
    for entry in crowd_log(count, campaigns=3, seed=seed, ways=3):
        record = (entry.campaign.encode(), encode(entry))
        records.append(record)
        if chance.random() < 0.05:
            records.append(record)
        if chance.random() < 0.02:
            records.append((entry.campaign.encode(), chance.choice(poison)))
    return records


def replayed(stack: Stack) -> tuple[dict[str, StoredCampaign], dict[str, int]]:
    """Run the log that Kafka holds through the same processor, on a memory store, in one batch a partition."""
    store = MemoryStore()
    campaigns: dict[str, StoredCampaign] = {}
    totals = dict.fromkeys(Outcomes._fields, 0)
    for number, records in stack.read(topics.JUDGMENTS).items():
        past = log_reader(records)
        options = ProcessorOptions.from_settings(stack.settings)
        processor, _ = Processor.open(stack.name(topics.JUDGMENTS), number, store, options, read_log=past)
        processor.process(records)
        processor.rate_again()
        for name, count in processor.counts()._asdict().items():
            totals[name] += count
        for name in processor.campaigns:
            lease: Lease = processor.lease
            stored = store.load(lease, name)
            assert stored is not None
            campaigns[name] = stored
    return campaigns, totals


def assert_same_as_embedded(stack: Stack) -> dict[str, int]:
    """Compare every row of Redis, bit for bit, with an undisturbed run of the same log."""
    expected, totals = replayed(stack)
    for name, stored in expected.items():
        found = stack.store.read(name)
        assert found is not None, name
        assert found.tables == stored.tables
        assert found.seen == stored.seen
        assert _meta(found) == _meta(stored)
    return totals


def _meta(stored: StoredCampaign) -> CampaignMeta:
    """Read the meta; which requests are out depends on the batches, and nothing else does."""
    return msgspec.structs.replace(msgspec.json.decode(stored.meta, type=CampaignMeta), outstanding=())


def is_rated(stack: Stack, campaign: str) -> bool:
    meta = stack.store.read_meta(campaign)
    return meta is not None and meta.status.quarantine is None


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / name).read_text()))


def decoded(values: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(value) for value in values]


def test_a_campaign_runs_through_while_a_second_worker_joins_and_leaves(stack: Stack) -> None:
    records = published(5000)
    thirds = [records[: len(records) // 3], records[len(records) // 3 : -1500], records[-1500:]]
    first = stack.start_worker()
    stack.publish(thirds[0])
    stack.wait_until_read(200)
    second = stack.start_worker()
    stack.publish(thirds[1])
    stack.wait_for(lambda: second.said("is open at offset"), "the second worker has partitions")
    stack.wait_until_read(len(thirds[0]) + 200)
    assert second.terminate() < 10
    assert second.process.returncode == 0
    stack.publish(thirds[2])
    stack.wait_until_read(len(records))
    assert first.process.poll() is None

    totals = assert_same_as_embedded(stack)
    assert totals["read"] == len(records) == totals["applied"] + totals["duplicate"] + totals["rejected"]
    assert totals["applied"] == 5000
    assert stack.records_read() == len(records)

    embedded = Embedded(stack.settings)
    for key, value in records:
        embedded.log.append(topics.JUDGMENTS.name, key, value)
    embedded.run()
    assert embedded.counts()._asdict() == totals

    boards = validator("leaderboard.v1.json")
    final: dict[str, dict[str, Any]] = {}

    def complete() -> bool:
        for board in decoded(stack.values(topics.LEADERBOARDS)):
            boards.validate(board)
            if board["sequence"] >= final.get(board["campaign"], {"sequence": -1})["sequence"]:
                final[board["campaign"]] = board
        return len(final) == 3 and sum(board["judgments"] for board in final.values()) == 5000

    stack.wait_for(complete, "a snapshot of the final state of each campaign")
    for name, board in final.items():
        live = embedded.campaign(name).leaderboard()
        assert board["rows"] == list(msgspec.to_builtins(live.rows))

    ratings = decoded(stack.values(topics.RATINGS))
    requests = decoded(stack.values(topics.MATCH_REQUESTS))
    rejections = decoded(stack.values(topics.REJECTED))
    settings = decoded(stack.values(topics.CAMPAIGNS))
    for events_found, schema in (
        (ratings, "rating.v1.json"),
        (requests, "match-request.v1.json"),
        (rejections, "rejection.v1.json"),
        (settings, "campaign.v1.json"),
    ):
        assert events_found
        for found in events_found:
            validator(schema).validate(found)
    assert len({rejection["id"] for rejection in rejections}) == totals["rejected"]
    newest = {(rating["campaign"], rating["system"]): rating for rating in sorted(ratings, key=lambda r: r["offset"])}
    for (name, system), rating in newest.items():
        (expected,) = [each for each in embedded.campaign(name).ratings() if each.system == system]
        assert (rating["mean"], rating["deviation"]) == (expected.mean, expected.deviation)


def test_every_kind_of_bad_record_gets_one_rejection_and_its_neighbours_are_applied(stack: Stack) -> None:
    records: Published = []
    for number, (value, _, _) in enumerate(POISON.values()):
        records += [(b"c", encode(judgment(1000 + number))), (b"c", value)]
    stack.start_worker()
    stack.publish(records)
    stack.wait_until_read(len(records))
    totals = assert_same_as_embedded(stack)
    assert totals == {
        "read": 2 * len(POISON),
        "applied": len(POISON),
        "duplicate": 0,
        "rejected": len(POISON),
        "held": 0,
        "forwarded": 0,
        "deleted": 0,
        "missing": 0,
        "empty": 0,
    }
    rejections = [msgspec.json.decode(value, type=events.Rejection) for value in stack.values(topics.REJECTED)]
    assert len(rejections) == len(POISON)
    (log,) = stack.read(topics.JUDGMENTS).items()
    for rejection, (value, reason, field) in zip(
        sorted(rejections, key=lambda each: each.offset), POISON.values(), strict=True
    ):
        assert (rejection.reason, rejection.field) == (reason, field)
        assert (rejection.topic, rejection.partition) == (stack.name(topics.JUDGMENTS), log[0])
        assert (value or b"") == (log[1][rejection.offset].value or b"")
        assert rejection.original == without_judge(value, Pseudonyms(stack.settings.judge_key.encode())).value


def test_sigterm_under_load_ends_within_ten_seconds_and_nothing_is_lost(stack: Stack) -> None:
    records = published(6000, seed=2)
    worker = stack.start_worker()
    stack.publish(records)
    stack.wait_until_read(400)
    assert worker.terminate() < 10
    assert worker.process.returncode == 0
    assert stack.records_read() < len(records), "the worker was too fast for this test to show anything"
    acknowledged = stack.acknowledged()
    assert sum(acknowledged.values()) > 0
    assert acknowledged == {number: offset for number, offset in stack.persisted().items() if number in acknowledged}
    stack.start_worker()
    stack.wait_until_read(len(records))
    assert assert_same_as_embedded(stack)["read"] == len(records)


def test_kill_9_in_the_middle_loses_and_doubles_nothing(stack: Stack) -> None:
    records = published(6000, seed=3)
    worker = stack.start_worker()
    stack.publish(records)
    stack.wait_until_read(400)
    worker.process.kill()
    worker.process.wait()
    assert stack.records_read() < len(records), "the worker was too fast for this test to show anything"
    stack.start_worker()
    stack.wait_until_read(len(records))
    assert assert_same_as_embedded(stack)["read"] == len(records)


def test_a_command_takes_effect_in_the_log_and_is_announced(stack: Stack) -> None:
    stack.start_worker()
    settings = events.CampaignSettings(systems=("a", "b", "x"), outstanding=5, segments=("s1", "s2"))
    create = events.Create(id="create-1", campaign="new", at=NOON, settings=settings)
    stack.publish([(b"new", encode(create)), (b"new", b'{"action":"explode"}')], topics.COMMANDS)
    stack.wait_until_read(1)
    stack.wait_for(lambda: len(stack.values(topics.MATCH_REQUESTS)) == 5, "five match requests")
    stack.wait_for(lambda: len(stack.values(topics.REJECTED)) == 1, "one rejection")
    (announced,) = (msgspec.json.decode(value, type=events.CampaignStatus) for value in stack.values(topics.CAMPAIGNS))
    assert announced.settings == settings
    (rejection,) = (msgspec.json.decode(value, type=events.Rejection) for value in stack.values(topics.REJECTED))
    assert (rejection.topic, rejection.field) == (stack.name(topics.COMMANDS), "action")
    request = msgspec.json.decode(stack.values(topics.MATCH_REQUESTS)[0], type=events.MatchRequest)
    answer = judgment(1, campaign="new", systems=request.systems, request=request.id)
    stack.publish([(b"new", encode(answer))])
    stack.wait_for(lambda: len(stack.values(topics.MATCH_REQUESTS)) == 6, "a new request for the answered one")


BUG = """
from streams.pipeline import processor
from streams.cli.main import main

prepare, seen = processor.Processor.prepare, 0

def prepare_until_the_bug(self, records):
    global seen
    seen += len(records)
    if seen > 500:
        raise ZeroDivisionError("a bug")
    return prepare(self, records)

processor.Processor.prepare = prepare_until_the_bug
main()
"""


def test_a_bug_stops_the_worker_and_nothing_behind_it_is_applied_or_lost(stack: Stack) -> None:
    records = published(2000, seed=4)
    stack.publish(records)
    buggy = stack.start_worker(script=BUG)
    assert buggy.process.wait(PATIENCE_SECONDS) == 1
    assert buggy.said("ZeroDivisionError: a bug")
    assert stack.records_read() <= 500
    stack.start_worker()
    stack.wait_until_read(len(records))
    assert assert_same_as_embedded(stack)["read"] == len(records)


def test_a_retraction_rates_the_campaign_again_from_the_log(stack: Stack) -> None:
    records = published(1500, seed=5)
    stack.start_worker()
    stack.publish(records)
    stack.wait_until_read(len(records))
    retract = events.Retract(id="r", campaign="campaign-1", at=NOON, judgments=("id-4", "id-100"), judge="judge-2")
    stack.publish([(b"campaign-1", encode(retract))], topics.COMMANDS)
    stack.wait_until_read(len(records) + 1)
    late = judgment(9999, campaign="campaign-1", systems=("system-1", "system-2"))
    stack.publish([(b"campaign-1", encode(late))])
    stack.wait_until_read(len(records) + 2)
    stack.wait_for(lambda: is_rated(stack, "campaign-1"), "the campaign is rated again")
    assert_same_as_embedded(stack)

    never = Embedded(stack.settings)
    for entry in (*crowd_log(1500, campaigns=3, seed=5, ways=3), late):
        if entry.id not in {"id-4", "id-100"} and (entry.judge != "judge-2" or entry is late):
            never.publish(entry)
    never.run()
    stored = stack.store.read("campaign-1")
    assert stored is not None
    rows = {name: decode_row(row, SystemRow) for name, row in stored.tables["systems"].items()}
    unjudged = never.campaign("campaign-1")
    for rating in unjudged.ratings():
        assert (rows[rating.system].mean, rows[rating.system].deviation) == (rating.mean, rating.deviation)
    assert ReadOnlyCampaign.restore("campaign-1", stored).leaderboard().rows == unjudged.leaderboard().rows
    meta = msgspec.json.decode(stored.meta, type=CampaignMeta)
    assert meta.counts.retracted > 50
