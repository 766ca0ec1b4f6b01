"""A state of an earlier layout goes on bit for bit in the present one. That of a newer one is not touched."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from streams.core.campaign.state import LAYOUT, TABLES, CampaignChange, MetaEncoder, decode_meta
from streams.errors import StoreNewer
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.base import decode_head
from streams.stores.commit import Commit
from streams.stores.memory import MemoryStore
from streams.stores.redis.store import RedisStore
from streams.wire.events import encode
from streams.wire.id_text import IdText
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.stores import Store

pytestmark = pytest.mark.integration

# All keys of a Redis, written by the last version that used layout 2, and the log: the records before `applied` and
# those that come after them.
DUMP = json.loads(Path(__file__).with_name("layout_2.json").read_text())
HOME = "judgments.v1/0"
CAMPAIGNS = ["ranked", "scored"]


def raw(value: Any) -> bytes:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()


LOG = [Record(number, None, raw(value)) for number, value in enumerate(DUMP["records"])]


@pytest.fixture(params=["servers", "cluster"])
def store(request: pytest.FixtureRequest, namespace: str) -> Iterator[RedisStore]:
    server = request.getfixturevalue(request.param)
    store = RedisStore(server if isinstance(server, str) else server.redis, namespace=namespace)
    yield store
    store.close()


def fill(store: RedisStore, layout: int) -> None:
    """Write the keys of an earlier version."""
    client = store.client.redis
    for name, kept in DUMP["keys"].items():
        key, value = name.replace("judgestream:", store.keys.prefix), kept["value"]
        if kept["type"] == "hash":
            fields = {field: raw(content) for field, content in value.items()}
            if layout == 1 and "campaign" in fields:
                fields["campaign"] = in_layout_1(fields["campaign"])
            client.hset(key, mapping=fields)
        elif kept["type"] == "set":
            client.sadd(key, *value)
        elif kept["type"] == "list":
            client.rpush(key, *value)
        elif kept["type"] == "zset":
            client.zadd(key, value)
        else:
            client.set(key, raw(value))


def in_layout_1(meta: bytes) -> bytes:
    """Return a meta as layout 1 had it. Its requests had no campaign, reason or information."""
    fields: dict[str, Any] = msgspec.json.decode(meta)
    known = ("id", "systems", "segment", "expires_at")
    fields["outstanding"] = [{name: request[name] for name in known} for request in fields["outstanding"]]
    return encode(fields | {"layout": 1})


def opened(store: Store) -> Processor:
    options = ProcessorOptions.from_settings(Settings(judge_key="key"))
    return Processor.open("judgments.v1", 0, store, options)[0]


def rate(store: Store, *, batch: int = 1000) -> None:
    """Rate the rest of the log."""
    processor = opened(store)
    for first in range(processor.next_offset, len(LOG), batch):
        processor.process(LOG[first : first + batch])


def calm_run() -> MemoryStore:
    """Rate the rest of the log from the same state, in memory and in one batch."""
    changes = []
    for name in CAMPAIGNS:
        meta = decode_meta(name, raw(table(name, "meta")["campaign"]))
        progress, status = MetaEncoder().encode(meta)
        changes.append(
            CampaignChange(
                campaign=name,
                before=-1,
                after=meta.offset,
                whole=True,
                meta=progress,
                status=status,
                tables={each: {key: raw(row) for key, row in table(name, each).items()} for each in TABLES},
                scores=table(name, "leaderboard"),
                withdrawn=(),
                seen=IdText.of(table(name, "seen")),
                seen_ids=100_000,
                outbox=(),
            )
        )
    head = DUMP["keys"][f"judgestream:{{{HOME}}}"]["value"]
    store = MemoryStore()
    lease, _ = store.open(HOME)
    commit = Commit(before=0, after=int(head["offset"]), campaigns=tuple(changes), outbox=(), **decode_head(head))
    store.persist(lease, commit)
    rate(store)
    return store


def table(campaign: str, name: str) -> Any:
    return DUMP["keys"].get(f"judgestream:{{{campaign}}}:{name}", {"value": {}})["value"]


@pytest.mark.parametrize("layout", [1, 2])
def test_a_state_of_an_earlier_layout_goes_on_bit_for_bit_in_the_present_one(store: RedisStore, layout: int) -> None:
    calm = calm_run()
    fill(store, layout)
    assert store.list_campaigns([HOME]) == CAMPAIGNS, "a monitor may be newer than the workers"
    assert store.find_problems(HOME) == {}
    for name in CAMPAIGNS:
        meta = store.read_meta(name)
        assert meta is not None
        assert meta.outstanding
        assert all((request.why == "unknown") == (layout == 1) for request in meta.outstanding)
    rate(store, batch=5)
    assert state_hash(store, [HOME]) == state_hash(calm, [HOME])
    for name in CAMPAIGNS:
        fields: dict[bytes, bytes] = store.client.redis.hgetall(store.keys.campaign(name, "meta"))  # type: ignore[assignment]
        assert fields[b"layout"] == b"%d" % LAYOUT
        assert "standing" in msgspec.json.decode(fields[b"status"])
        assert "standing" not in msgspec.json.decode(fields[b"campaign"])
    assert store.read_partition(HOME)["layout"] == str(LAYOUT)
    assert store.find_problems(HOME) == {}
    opened(store).verify()


@pytest.mark.parametrize("layout", [1, 2])
def test_a_state_of_an_earlier_layout_that_lost_its_meta_is_not_a_new_campaign(store: RedisStore, layout: int) -> None:
    fill(store, layout)
    store.client.redis.delete(store.keys.campaign("ranked", "meta"))
    lease, state = store.open(HOME)
    assert state.campaigns == ("ranked", "scored")
    found = store.load(lease, "ranked")
    assert found is not None
    assert "lost" in (found.problem or "")


def keys(store: RedisStore) -> dict[str, Any]:
    """Return all that is stored. The dump of a hash depends on its past."""
    client = store.client.redis
    names = sorted(client.scan_iter(f"{store.keys.prefix}*"))
    return {
        name.decode(): client.hgetall(name) if client.type(name) == b"hash" else client.dump(name) for name in names
    }


def test_a_campaign_of_a_newer_layout_is_refused_and_not_touched(store: RedisStore) -> None:
    rate(store)
    store.client.redis.hset(store.keys.campaign("ranked", "meta"), "layout", LAYOUT + 1)
    lease, _ = store.open(HOME)
    before = keys(store)
    with pytest.raises(StoreNewer, match=f"campaign 'ranked': stored in layout {LAYOUT + 1}, .* update Judgestream"):
        store.load(lease, "ranked")
    with pytest.raises(StoreNewer):
        store.read("ranked")
    with pytest.raises(StoreNewer):
        store.read_meta("ranked")
    assert keys(store) == before
    assert store.load(lease, "scored") is not None


def test_a_partition_of_a_newer_layout_is_refused_and_not_touched(store: RedisStore) -> None:
    rate(store)
    store.client.redis.hset(store.keys.partition(HOME), "layout", LAYOUT + 1)
    before = keys(store)
    with pytest.raises(StoreNewer, match=rf"judgments\.v1/0: stored in layout {LAYOUT + 1}, .* update Judgestream"):
        opened(store)
    assert keys(store) == before
