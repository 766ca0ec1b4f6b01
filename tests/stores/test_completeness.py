"""Keys that are lost and shards that come back older: a store notices, and nothing begins anew in silence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from streams.core.campaign.state import TABLES
from streams.errors import Conflict, Fenced
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.stores.redis.store import RedisStore
from streams.wire import topics
from streams.wire.events import encode
from streams.wire.id_text import IdText
from tests.builders import crowd_log
from tests.state_hash import state_hash
from tests.stores.losses import keep_campaign, keep_partition, lose_partition, lose_table
from tests.stores.test_conformance import HOME, change, commit

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignChange, StoredCampaign
    from streams.stores import Lease, Store


def filled(before: int, after: int, *, campaign: str = "c") -> CampaignChange:
    """Return a change with a row in each table."""
    made = change(before, after, campaign=campaign, seen=(f"id-{after}",))
    return replace(made, tables={table: {"a": b"%d" % after} for table in TABLES})


def begun(store: Store) -> Lease:
    """Write two campaigns in two batches."""
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, filled(-1, 3), filled(-1, 4, campaign="d")))
    store.persist(lease, commit(5, 9, filled(3, 8)))
    return lease


def loaded(store: Store, lease: Lease, campaign: str = "c") -> StoredCampaign:
    found = store.load(lease, campaign)
    assert found is not None
    return found


def test_a_whole_campaign_has_no_problem(store: Store) -> None:
    begun(store)
    lease, _ = store.open(HOME)
    assert [(loaded(store, lease, name).problem, loaded(store, lease, name).offset) for name in "cd"] == [
        (None, 8),
        (None, 4),
    ]
    assert store.find_problems(HOME) == {}
    store.verify(lease, 9, {"c": 8, "d": 4})


@pytest.mark.parametrize("table", [*TABLES, "seen", "leaderboard"])
def test_a_campaign_that_lost_a_table_is_not_complete(store: Store, table: str) -> None:
    lease = begun(store)
    lose_table(store, "c", table)
    with pytest.raises(Conflict):
        store.verify(lease, 9, {"c": 8, "d": 4})
    with pytest.raises(Conflict):
        store.persist(lease, commit(9, 12, filled(8, 11)))
    lease, _ = store.open(HOME)
    assert f"not complete ({table} has 0 rows, not " in (loaded(store, lease).problem or "")
    assert list(store.find_problems(HOME)) == ["c"]
    found = store.read("c", with_seen=False)
    assert found is not None
    assert "not complete" in (found.problem or "")
    assert loaded(store, lease, "d").problem is None


@pytest.mark.integration
@pytest.mark.parametrize("table", ["judges", "seen", "meta"])
@pytest.mark.parametrize("store", ["redis", "cluster"], indirect=True)
def test_a_key_of_another_type_is_not_complete(store: RedisStore, table: str) -> None:
    lease = begun(store)
    lose_table(store, "c", table)
    store.client.redis.set(store.keys.campaign("c", table), "text")
    with pytest.raises(Conflict, match="'c'"):
        store.verify(lease, 9, {"d": 4, "c": 8})
    assert list(store.find_problems(HOME)) == ["c"]


def test_a_table_that_the_last_version_did_not_have_is_not_a_lost_one(store: Store) -> None:
    lease = begun(store)
    lose_table(store, "c", "votes")
    if isinstance(store, RedisStore):
        head = store.keys.campaign("c", "meta")
        rows: bytes = store.client.redis.hget(head, "rows")  # type: ignore[assignment]
        store.client.redis.hset(head, "rows", rows.replace(b" votes=1", b""))
    else:
        assert isinstance(store, MemoryStore)
        del store._campaigns["c"].rows["votes"]
    store.persist(lease, commit(9, 12, filled(8, 11)))
    assert loaded(store, lease).problem is None
    lose_table(store, "c", "votes")
    assert "votes has 0 rows, not 1" in (loaded(store, lease).problem or "")


def test_a_listed_campaign_without_its_meta_is_lost_and_not_new(store: Store) -> None:
    lease = begun(store)
    lose_table(store, "c", "meta")
    with pytest.raises(Conflict):
        store.verify(lease, 9, {"c": 8, "d": 4})
    with pytest.raises(Conflict):
        store.persist(lease, commit(9, 12, filled(8, 11)))
    lease, state = store.open(HOME)
    assert (state.next_offset, state.campaigns) == (9, ("c", "d"))
    found = loaded(store, lease)
    assert (found.meta, found.offset, found.seen) == (b"", -1, ())
    assert found.problem == "its stored state is lost, although its partition lists it"
    assert store.find_problems(HOME) == {"c": found.problem}


def test_a_campaign_that_is_not_complete_can_still_be_quarantined(store: Store) -> None:
    begun(store)
    lose_table(store, "c", "seen")
    lose_table(store, "d", "meta")
    lease, _ = store.open(HOME)
    assert [loaded(store, lease, name).problem is None for name in "cd"] == [False, False]
    held = [
        replace(each, tables={}, scores={}, seen=IdText()) for each in (change(8, 11), change(-1, 10, campaign="d"))
    ]
    store.persist(lease, commit(9, 12, *held))
    assert [(loaded(store, lease, name).meta, loaded(store, lease, name).offset) for name in "cd"] == [
        (b'{"after":11}', 11),
        (b'{"after":10}', 10),
    ]
    assert "seen has 0 rows" in (loaded(store, lease).problem or ""), "its rows are as they were"


def test_a_campaign_that_came_back_older_is_older_than_its_partition_knows(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, filled(-1, 3), filled(-1, 4, campaign="d")))
    come_back = keep_campaign(store, "c")
    store.persist(lease, commit(5, 9, filled(3, 8)))
    come_back()
    with pytest.raises(Conflict):
        store.verify(lease, 9, {"c": 8, "d": 4})
    lease, state = store.open(HOME)
    assert state.next_offset == 9
    found = loaded(store, lease)
    assert "older than its partition knows (it is at offset 3, not at 8)" in (found.problem or "")
    assert store.find_problems(HOME) == {"c": found.problem}
    assert loaded(store, lease, "d").problem is None


def test_a_campaign_ahead_of_its_partition_has_no_problem(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, filled(-1, 3), filled(-1, 4, campaign="d")))
    come_back = keep_partition(store, HOME)
    lease, _ = store.open(HOME)
    assert loaded(store, lease).offset == 3
    store.persist(lease, commit(5, 9, filled(3, 8)))
    come_back()
    with pytest.raises(Conflict):
        store.verify(lease, 9, {"c": 8})
    with pytest.raises((Conflict, Fenced)):
        store.persist(lease, commit(9, 12, filled(8, 11)))
    lease, state = store.open(HOME)
    assert state.next_offset == 5
    assert (loaded(store, lease).problem, loaded(store, lease).offset) == (None, 8)
    store.persist(lease, commit(5, 9, filled(8, 8)))
    assert store.find_problems(HOME) == {}


@pytest.mark.parametrize(("listed", "head"), [(True, False), (False, True), (True, True)])
def test_a_partition_without_its_head_or_its_list_is_read_from_the_beginning(
    store: Store, listed: bool, head: bool
) -> None:
    begun(store)
    for _ in range(3):
        lease, _ = store.open(HOME)
        loaded(store, lease)
    lose_partition(store, HOME, listed=listed, head=head)
    with pytest.raises(Conflict):
        store.verify(lease, 9, {"c": 8, "d": 4})
    with pytest.raises(Conflict):
        store.persist(lease, commit(9, 12, filled(8, 11)))
    lease, state = store.open(HOME)
    assert (state.next_offset, state.read, state.last_record_fingerprint) == (0, 0, "")
    assert state.campaigns == (() if listed else ("c", "d"))
    if head and listed and not isinstance(store, MemoryStore):
        # Nobody knew that there are campaigns in a later epoch than that of the new head.
        with pytest.raises(Conflict, match="its head was lost or came back older"):
            store.load(lease, "c")
        lease, _ = store.open(HOME)
    assert [loaded(store, lease, name).problem for name in "cd"] == [None, None]
    store.persist(lease, commit(0, 9, filled(8, 8), filled(4, 4, campaign="d")))
    assert (store.list_campaigns([HOME]), store.find_problems(HOME)) == (["c", "d"], {})
    _, state = store.open(HOME)
    assert (state.next_offset, state.campaigns) == (9, ("c", "d"))


def test_a_former_owner_does_not_move_the_epoch(store: Store) -> None:
    former = begun(store)
    owner, _ = store.open(HOME)
    loaded(store, owner)
    with pytest.raises(Fenced):
        store.load(former, "c")
    store.persist(owner, commit(9, 12, filled(8, 11)))


@pytest.mark.parametrize("store", [pytest.param("cluster", marks=pytest.mark.integration)], indirect=True)
def test_a_campaign_that_a_cluster_listed_and_did_not_write_is_new(store: Store) -> None:
    begun(store)
    lease, _ = store.open(HOME)
    with pytest.raises(Conflict):
        store.persist(lease, commit(9, 12, filled(3, 11), filled(-1, 10, campaign="e")))
    lease, state = store.open(HOME)
    assert state.campaigns == ("c", "d", "e")
    assert store.load(lease, "e") is None
    assert store.find_problems(HOME) == {}
    loaded(store, lease)
    store.persist(lease, commit(9, 12, filled(8, 11), filled(-1, 10, campaign="e")))
    assert loaded(store, lease, "e").offset == 10


def test_a_campaign_that_is_born_again_has_no_row_of_its_former_life(store: Store) -> None:
    options = ProcessorOptions.from_settings(Settings(judge_key="key"))
    log = [Record(offset, None, encode(entry)) for offset, entry in enumerate(crowd_log(60, campaigns=1, seed=5))]
    calm = MemoryStore()
    for each in (calm, store):
        Processor.open(topics.JUDGMENTS.name, 0, each, options)[0].process(log)
    lose_table(store, "campaign-0", "meta")
    lose_partition(store, HOME, listed=True, head=False)
    for records in (log[:20], log[20:]):  # the second owner restores what the first one has stored
        processor, _ = Processor.open(topics.JUDGMENTS.name, 0, store, options)
        assert processor.next_offset == records[0].offset
        processor.process(records)
    assert state_hash(store, [HOME]) == state_hash(calm, [HOME])
