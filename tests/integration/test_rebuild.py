"""The rebuild on a real Kafka and a real Redis: whatever happened to Redis, it is as the log says again."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from click.testing import CliRunner, Result

from streams.cli.commands.rebuild import command
from streams.core.campaign.state import CampaignMeta, SystemRow, decode_row, encode_row
from streams.errors import HistoryGone, StoreCorrupt, StoreUnavailable
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.rebuild.rebuild import rebuild
from streams.stores.memory import MemoryStore
from streams.stores.redis.client import Client
from streams.stores.redis.ids import decode_ids
from streams.stores.redis.staging import Staging
from streams.wire import events, topics
from streams.wire.events import encode
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.integration.test_worker import published
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from streams.stores import Store
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

RETRACT = events.Retract(id="r", campaign="campaign-1", at=NOON, judgments=("id-4", "id-100"), judge="judge-2")
ASKING = events.Create(
    id="create", campaign="asking", at=NOON, settings=events.CampaignSettings(systems=("a", "b", "x"), outstanding=5)
)


def partitions(stack: Stack) -> list[str]:
    return [f"{stack.name(topics.JUDGMENTS)}/{number}" for number in range(stack.settings.partitions)]


def run_log(stack: Stack, store: Store, *, batch: int = 150) -> None:
    """Do what the workers do, up to the end of the log."""
    for number, records in stack.read(topics.JUDGMENTS).items():
        past = log_reader(records)
        options = ProcessorOptions.from_settings(stack.settings)
        processor, _ = Processor.open(stack.name(topics.JUDGMENTS), number, store, options, read_log=past)
        for first in range(processor.next_offset, len(records), batch):
            processor.process(records[first : first + batch])
        processor.rate_again()


def expected_hash(stack: Stack) -> str:
    """Hash an undisturbed run of the log, in other batches."""
    store = MemoryStore()
    run_log(stack, store, batch=10_000)
    return state_hash(store, partitions(stack))


def found_hash(stack: Stack) -> str:
    return state_hash(stack.store, partitions(stack))


def dump(stack: Stack) -> dict[str, Any]:
    """Read every key of the namespace."""
    client = stack.store.client.redis
    kept: dict[str, Any] = {}
    for key in sorted(client.scan_iter(f"judgestream:{stack.settings.namespace}:*")):
        read: dict[Any, Any] = {
            b"hash": client.hgetall,
            b"set": client.smembers,
            b"string": client.get,
            b"list": partial(client.lrange, start=0, end=-1),
            b"zset": partial(client.zrange, start=0, end=-1, withscores=True),
        }
        kept[key.decode()] = read[client.type(key)](key)
    return kept


def settled(keys: dict[str, Any]) -> dict[str, Any]:
    """Leave out what depends on who wrote it and in which batches: epochs, outboxes, requests that are out.

    The ids of a batch are one element of a list.
    """
    result = {}
    for name, value in keys.items():
        if name.endswith((":outbox", ":requests")):
            continue
        if name.endswith(":seen"):
            value = decode_ids(value, kept=None)
        if isinstance(value, dict):
            value = {field: content for field, content in value.items() if field not in (b"epoch", b"kept_ids")}
            if b"rows" in value:
                value[b"rows"] = re.sub(rb"seen=\d+", b"", value[b"rows"])
        result[name] = value
    return result


def flush(stack: Stack) -> None:
    """Lose all that Redis holds for this test."""
    for key in stack.store.client.redis.scan_iter(f"judgestream:{stack.settings.namespace}:*"):
        stack.store.client.redis.delete(key)


def key(stack: Stack, campaign: str, table: str) -> str:
    return stack.store.keys.campaign(campaign, table)


def damage(stack: Stack, campaign: str = "campaign-0") -> None:
    """Change, remove and add rows, and forget judgments."""
    client = stack.store.client.redis
    row = decode_row(client.hget(key(stack, campaign, "systems"), "system-1") or b"", SystemRow)  # type: ignore[arg-type]
    client.hset(key(stack, campaign, "systems"), "system-1", encode_row(msgspec.structs.replace(row, mean=99.0)))
    client.hdel(key(stack, campaign, "systems"), "system-2")
    client.hset(key(stack, campaign, "segments"), "never-judged", client.hvals(key(stack, campaign, "segments"))[0])
    client.zadd(key(stack, campaign, "leaderboard"), {"system-1": 99.0})
    meta = json.loads(client.hget(key(stack, campaign, "meta"), "campaign") or b"")
    meta["counts"]["judgments"] -= 3
    client.hset(key(stack, campaign, "meta"), "campaign", json.dumps(meta))


def invoke(stack: Stack, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, env=stack.environment)


@pytest.fixture
def settled_stack(stack: Stack) -> Stack:
    """Three campaigns with repeats, bad records and a retraction, all applied, and one that asks for matches."""
    records = published(900, seed=7)
    stack.publish([*records, (b"campaign-1", encode(RETRACT)), (b"asking", encode(ASKING))])
    run_log(stack, stack.store)
    assert found_hash(stack) == expected_hash(stack)
    return stack


def test_a_store_that_is_as_the_log_says_is_left_alone(settled_stack: Stack) -> None:
    before = dump(settled_stack)
    looked = invoke(settled_stack, "--all", "--dry-run")
    assert looked.exit_code == 0, looked.output
    assert "✓ 4 campaigns from" in looked.output
    done = invoke(settled_stack, "--all", "--yes", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["differs"], found["dry_run"]) == (False, False)
    assert {partition["swapped"] for partition in found["partitions"]} == {False}
    assert dump(settled_stack) == before, "no epoch was taken: a worker would have gone on"


def test_a_dry_run_says_what_differs_and_changes_nothing(settled_stack: Stack) -> None:
    damage(settled_stack)
    before = dump(settled_stack)
    looked = invoke(settled_stack, "campaign-0", "--dry-run", "--json")
    assert looked.exit_code == 1
    (difference,) = [found for part in json.loads(looked.stdout)["partitions"] for found in part["differences"]]
    assert difference["campaign"] == "campaign-0"
    assert difference["tables"] == {
        "systems": {"missing": 1, "extra": 0, "different": 1},
        "segments": {"missing": 0, "extra": 1, "different": 0},
        "leaderboard": {"missing": 0, "extra": 0, "different": 1},
    }
    counts = difference["fields"]["judgments"]
    assert counts["log"] - counts["stored"] == 3
    store = MemoryStore()
    run_log(settled_stack, store)
    found = store.read("campaign-0")
    assert found is not None
    assert difference["means"] == {
        "system-1": {"stored": 99.0, "log": found.scores["system-1"]},
        "system-2": {"stored": None, "log": found.scores["system-2"]},
    }
    people = invoke(settled_stack, "--all", "--dry-run")
    assert people.exit_code == 1
    assert "mean of system-1: 99 stored" in people.output
    assert "1 differ; nothing was changed" in people.output
    assert dump(settled_stack) == before


def test_damage_is_repaired_and_the_rest_is_not_touched(settled_stack: Stack) -> None:
    healthy = dump(settled_stack)
    damage(settled_stack)
    done = invoke(settled_stack, "campaign-0", "--yes")
    assert done.exit_code == 0, done.output
    assert "1 differed and were replaced" in done.output
    assert settled(dump(settled_stack)) == settled(healthy)
    assert invoke(settled_stack, "--all", "--dry-run").exit_code == 0


def outstanding(store: Store, campaign: str) -> set[str]:
    stored = store.read(campaign)
    assert stored is not None
    return {request.id for request in msgspec.json.decode(stored.meta, type=CampaignMeta).outstanding}


def test_the_requests_that_are_out_stay_out(settled_stack: Stack) -> None:
    """Judge one at a time, so that the live requests are others than those of a run in large batches."""
    late = [judgment(number, campaign="asking", systems=("a", "b")) for number in range(5000, 5003)]
    settled_stack.publish([(b"asking", encode(entry)) for entry in late])
    run_log(settled_stack, settled_stack.store, batch=1)
    before, sent = settled_stack.store.read("asking"), outstanding(settled_stack.store, "asking")
    assert before is not None
    large = MemoryStore()
    run_log(settled_stack, large, batch=10_000)
    assert len(sent) == 5
    assert sent != outstanding(large, "asking"), "the batches make no difference, and this test shows nothing"
    settled_stack.store.client.redis.hdel(key(settled_stack, "asking", "systems"), "x")
    assert rebuild(settled_stack.settings, "asking").differs
    assert outstanding(settled_stack.store, "asking") == sent
    after = settled_stack.store.read("asking")
    assert after is not None
    assert set(before.outbox) <= set(after.outbox), "what may not have gone out is kept"


def rated(stack: Stack, campaign: str) -> dict[str, float]:
    """Return the means that stand in a campaign's outbox."""
    stored = stack.store.read(campaign)
    assert stored is not None
    values = [output.value for output in stored.outbox if output.topic == topics.RATINGS.name]
    return {rating.system: rating.mean for rating in (msgspec.json.decode(each, type=events.Rating) for each in values)}


def test_the_ratings_that_differed_go_out(settled_stack: Stack) -> None:
    late = judgment(5000, campaign="campaign-0", systems=("system-3", "system-4"))
    settled_stack.publish([(b"campaign-0", encode(late))])
    run_log(settled_stack, settled_stack.store)
    assert rated(settled_stack, "campaign-0").keys() == {"system-3", "system-4"}
    damage(settled_stack)
    rebuild(settled_stack.settings, "campaign-0")
    found, sent = settled_stack.store.read("campaign-0"), rated(settled_stack, "campaign-0")
    assert found is not None
    assert sent.keys() == {"system-1", "system-2", "system-3", "system-4"}
    assert sent == {system: found.scores[system] for system in sent}


def test_after_a_flush_all_is_as_if_nothing_had_happened(settled_stack: Stack) -> None:
    healthy = dump(settled_stack)
    flush(settled_stack)
    assert invoke(settled_stack, "--all", "--dry-run").exit_code == 1
    assert dump(settled_stack) == {}
    done = invoke(settled_stack, "--all", "--yes")
    assert done.exit_code == 0, done.output
    assert settled(dump(settled_stack)) == settled(healthy)
    assert found_hash(settled_stack) == expected_hash(settled_stack)
    more = [(entry.campaign.encode(), encode(entry)) for entry in crowd_log(1200, campaigns=3, seed=8)[900:]]
    settled_stack.publish(more)
    run_log(settled_stack, settled_stack.store)
    assert found_hash(settled_stack) == expected_hash(settled_stack)


def test_after_a_flush_the_requests_of_the_rebuild_go_out(settled_stack: Stack) -> None:
    flush(settled_stack)
    rebuild(settled_stack.settings)
    stored = settled_stack.store.read("asking")
    assert stored is not None
    out = {request.id for request in msgspec.json.decode(stored.meta, type=CampaignMeta).outstanding}
    sent = [output.value for output in stored.outbox if output.topic == topics.MATCH_REQUESTS.name]
    assert len(out) == 5
    assert {msgspec.json.decode(value, type=events.MatchRequest).id for value in sent} == out


def test_after_a_flush_the_rejections_that_no_worker_acknowledged_go_out(stack: Stack) -> None:
    """One belongs to no campaign, and one to a campaign that ranks and is given a score."""
    scored = judgment(2, systems=("a",), ranks=None, score=1.0)
    stack.publish([(b"c", encode(judgment(1))), (b"c", b"{"), (b"c", encode(scored))])
    rebuild(stack.settings)
    ((number, _),) = stack.read(topics.JUDGMENTS).items()
    options = ProcessorOptions.from_settings(stack.settings)
    processor, unsent = Processor.open(stack.name(topics.JUDGMENTS), number, stack.store, options)
    outputs = [output for output in unsent if output.topic == topics.REJECTED.name]
    assert sorted(msgspec.json.decode(output.value, type=events.Rejection).offset for output in outputs) == [1, 2]
    meta = stack.store.read_meta("c")
    assert meta is not None
    assert meta.counts.rejected == 1
    assert (processor.next_offset, processor.counts().read, processor.counts().rejected) == (3, 3, 2)


def test_a_lost_campaign_comes_back_beside_the_rest(settled_stack: Stack) -> None:
    healthy = dump(settled_stack)
    settled_stack.store.client.redis.delete(*(name for name in healthy if "{campaign-0}" in name))
    assert rebuild(settled_stack.settings).differs
    assert settled(dump(settled_stack)) == settled(healthy)


def test_a_lost_head_comes_back_and_no_record_behind_it_is_passed_over(settled_stack: Stack) -> None:
    """Nobody knows how far the partition was: what was not applied yet is applied before its head says so."""
    home = settled_stack.store.read_head("campaign-0")["partition"]
    for _ in range(5):  # owners, so that the campaign is in a later epoch than a head that begins anew
        settled_stack.store.load(settled_stack.store.open(home)[0], "campaign-0")
    late = judgment(77_777, campaign="campaign-0", systems=("system-3", "system-4"))
    settled_stack.publish([(b"campaign-0", encode(late))])
    settled_stack.store.client.redis.delete(settled_stack.store.keys.partition(home))
    assert rebuild(settled_stack.settings).differs
    assert found_hash(settled_stack) == expected_hash(settled_stack)
    lease, _ = settled_stack.store.open(home)
    assert settled_stack.store.load(lease, "campaign-0") is not None


def test_a_campaign_that_the_log_does_not_know_is_removed(settled_stack: Stack) -> None:
    healthy = dump(settled_stack)
    home = settled_stack.store.read_head("campaign-0")["partition"]
    for name in healthy:
        if "{campaign-0}" in name:
            settled_stack.store.client.redis.copy(name, name.replace("{campaign-0}", "{invented}"))
    settled_stack.store.change_list(settled_stack.store.open(home)[0], "invented", "new")
    assert rebuild(settled_stack.settings).differs
    assert settled(dump(settled_stack)) == settled(healthy)


@pytest.mark.parametrize("part", ["head", "campaigns"])
def test_a_partition_that_lost_its_head_or_its_list_is_rebuilt(settled_stack: Stack, part: Any) -> None:
    healthy = settled(dump(settled_stack))
    home = settled_stack.store.read_head("campaign-0")["partition"]
    assert settled_stack.store.client.redis.delete(settled_stack.store.keys.partition(home, part)) == 1
    assert rebuild(settled_stack.settings).differs
    assert settled(dump(settled_stack)) == healthy


@pytest.mark.parametrize("table", ["meta", "seen", "pairs"])
def test_a_campaign_that_lost_a_key_is_rebuilt(settled_stack: Stack, table: str) -> None:
    healthy = settled(dump(settled_stack))
    assert settled_stack.store.client.redis.delete(key(settled_stack, "campaign-0", table)) == 1
    assert rebuild(settled_stack.settings, "campaign-0").differs
    assert settled(dump(settled_stack)) == healthy


class Crash(BaseException):
    """The end of the process, which nothing catches."""


def test_a_rebuild_that_dies_at_any_point_leaves_nothing_half_done(
    settled_stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop after each writing call in turn. The campaign must be as it was before, or as it should be."""
    healthy = settled(dump(settled_stack))
    write, left = Client.write, 0

    def write_until_the_crash(self: Client, script: str, *arguments: Any, **more: Any) -> None:
        nonlocal left
        if left == 0:
            raise Crash
        left -= 1
        write(self, script, *arguments, **more)

    names = ("campaign-0", "campaign-1", "campaign-2")
    crashes = 0
    for survived in itertools.count():
        for name in names:
            damage(settled_stack, name)
        home = settled_stack.store.read_head("campaign-0")["partition"]
        settled_stack.store.client.redis.hincrby(settled_stack.store.keys.partition(home), "read", 5)
        damaged = settled(dump(settled_stack))
        with monkeypatch.context() as patch:
            patch.setattr(Client, "write", write_until_the_crash)
            left = survived
            try:
                rebuild(settled_stack.settings)
            except Crash:
                crashes += 1
            else:
                break
        found = settled(dump(settled_stack))
        for name in names:
            live = {each: value for each, value in found.items() if f"{{{name}}}" in each and ":fresh" not in each}
            assert live in (
                {each: value for each, value in damaged.items() if f"{{{name}}}" in each},
                {each: value for each, value in healthy.items() if f"{{{name}}}" in each},
            )
        rebuild(settled_stack.settings)
        assert settled(dump(settled_stack)) == healthy, "nothing fresh is left over either"
    assert crashes >= 8
    assert settled(dump(settled_stack)) == healthy


def test_a_worker_that_comes_back_too_early_is_fenced_off_again_and_loses_nothing(
    settled_stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled_stack.store.client.redis.zadd(key(settled_stack, "campaign-0", "leaderboard"), {"system-1": 99.0})
    write, intrusions = Client.write, 0

    def write_after_an_intrusion(self: Client, script: str, *arguments: Any, **more: Any) -> None:
        nonlocal intrusions
        if script == "swap" and not intrusions:
            intrusions += 1
            late = judgment(77_777, campaign="campaign-0", systems=("system-3", "system-4"))
            settled_stack.publish([(b"campaign-0", encode(late))])
            run_log(settled_stack, settled_stack.store)
        write(self, script, *arguments, **more)

    monkeypatch.setattr(Client, "write", write_after_an_intrusion)
    rebuild(settled_stack.settings, "campaign-0")
    assert intrusions == 1
    assert found_hash(settled_stack) == expected_hash(settled_stack)


def test_what_does_not_read_back_the_same_is_not_swapped_in(
    settled_stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(settled_stack)
    before = settled(dump(settled_stack))
    put = Staging.put_campaign

    def put_badly(self: Staging, *arguments: Any) -> None:
        put(self, *arguments)
        pairs = self.fresh.keys.campaign("campaign-0", "pairs")
        settled_stack.store.client.redis.hdel(pairs, *settled_stack.store.client.redis.hkeys(pairs)[:1])

    with monkeypatch.context() as patch:
        patch.setattr(Staging, "put_campaign", put_badly)
        with pytest.raises(StoreCorrupt, match="does not read back the same"):
            rebuild(settled_stack.settings, "campaign-0")
    assert {name: rows for name, rows in settled(dump(settled_stack)).items() if ":fresh" not in name} == before
    rebuild(settled_stack.settings, "campaign-0")
    assert found_hash(settled_stack) == expected_hash(settled_stack)


def test_workers_run_on_while_their_state_is_rebuilt(stack: Stack) -> None:
    records = published(3000, seed=9)
    worker = stack.start_worker()
    stack.publish(records[:1500])
    stack.wait_until_read(1500)
    stack.store.client.redis.lset(key(stack, "campaign-0", "seen"), 0, "another")  # which no store can notice
    stack.publish(records[1500:])
    done = stack.command("rebuild", "--all", "--yes")
    assert done.returncode == 0, done.stderr
    assert "1 differed and were replaced" in done.stdout
    stack.publish([(b"campaign-0", encode(judgment(77_777, campaign="campaign-0")))])
    stack.wait_until_read(len(records) + 1)
    assert worker.said("this worker writes no more to it")
    assert worker.process.poll() is None
    assert found_hash(stack) == expected_hash(stack)


def test_a_log_without_its_beginning_is_said_and_nothing_changes(settled_stack: Stack) -> None:
    home = settled_stack.store.read_head("campaign-0")["partition"]
    asyncio.run(_delete_before(settled_stack, int(home.rpartition("/")[2]), 10))
    damage(settled_stack)
    before = dump(settled_stack)
    with pytest.raises(HistoryGone, match="begins at offset 10"):
        rebuild(settled_stack.settings, "campaign-0")
    failed = settled_stack.command("rebuild", "campaign-0", "--yes")
    assert failed.returncode == 1
    assert "Error: " in failed.stderr
    assert "Traceback" not in failed.stderr
    assert dump(settled_stack) == before


async def _delete_before(stack: Stack, number: int, offset: int) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=stack.settings.kafka)
    await admin.start()
    try:
        source = TopicPartition(stack.name(topics.JUDGMENTS), number)
        await admin.delete_records({source: RecordsToDelete(before_offset=offset)})
    finally:
        await admin.close()


def test_another_log_than_the_one_that_was_applied_is_said(settled_stack: Stack) -> None:
    home = settled_stack.store.read_head("campaign-0")["partition"]
    settled_stack.store.client.redis.hset(settled_stack.store.keys.partition(home), "offset", 1_000_000)
    before = dump(settled_stack)
    with pytest.raises(HistoryGone, match="this is not the log that it came from"):
        rebuild(settled_stack.settings, "campaign-0")
    assert dump(settled_stack) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["campain-0", "--yes"], "did you mean 'campaign-0'?"),
        ([], "give either a CAMPAIGN or --all"),
        (["campaign-0", "--all"], "give either a CAMPAIGN or --all"),
        (["--all"], "add --yes"),
    ],
)
def test_wrong_use_is_said(settled_stack: Stack, arguments: Sequence[str], words: str) -> None:
    wrong = invoke(settled_stack, *arguments)
    assert wrong.exit_code == 2
    assert words in " ".join(wrong.output.split())


def test_another_judge_key_is_pointed_out(settled_stack: Stack) -> None:
    environment = settled_stack.environment | {"JUDGESTREAM_JUDGE_KEY": "not the workers'"}
    looked = CliRunner().invoke(command, ["--all", "--dry-run"], env=environment)
    assert looked.exit_code == 1
    assert "JUDGESTREAM_JUDGE_KEY" in looked.stderr


def test_a_redis_that_goes_away_is_said(settled_stack: Stack) -> None:
    with pytest.raises(StoreUnavailable):
        rebuild(msgspec.structs.replace(settled_stack.settings, redis="redis://127.0.0.1:9/0"))
