"""One suite for every store: written whole, once, and by the present owner only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.state import TABLES, CampaignChange, JudgeRow, decode_meta, encode_row
from streams.errors import Conflict, Fenced, ForeignCampaign, StoreCorrupt
from streams.stores.commit import Commit, PartitionState
from streams.stores.redis.store import RedisStore
from streams.wire.events import CampaignSettings, Create
from streams.wire.id_text import IdText
from streams.wire.outputs import Output
from tests.builders import NOON, judgment

if TYPE_CHECKING:
    from streams.stores import Store

HOME = "judgments.v1/0"
REJECTION = Output("rejected.v1", None, b"\xff", (("reason", b"\xfe"), ("reason", b"")))


def change(
    before: int,
    after: int,
    *,
    campaign: str = "c",
    row: bytes = b"{}",
    seen: tuple[str, ...] = (),
    kept: int = 100,
    whole: bool = False,
) -> CampaignChange:
    tables: dict[str, dict[str, bytes]] = {table: {} for table in TABLES}
    return CampaignChange(
        campaign=campaign,
        before=before,
        after=after,
        whole=whole,
        meta=b'{"after":%d}' % after,
        tables=tables | {"systems": {"a": row, "ü": b"\xf0"}},
        scores={"a": 1.5},
        withdrawn=(),
        seen=IdText.of(seen),
        seen_ids=kept,
        outbox=(Output("ratings.v1", b"c/a", b"value-%d" % after),),
    )


def commit(before: int, after: int, *changes: CampaignChange, rejected: int = 0) -> Commit:
    return Commit(
        before=before,
        after=after,
        read=after,
        rejected=rejected,
        rejected_in_a_row=2 * rejected,
        rejected_share=0.1 * rejected,
        last_record_fingerprint=f"mark-{after}",
        campaigns=changes,
        outbox=(REJECTION,) if rejected else (),
    )


def test_a_fresh_partition_starts_at_nothing(store: Store) -> None:
    _, state = store.open(HOME)
    assert state == PartitionState()


def test_an_unknown_campaign_is_none(store: Store) -> None:
    lease, _ = store.open(HOME)
    assert store.load(lease, "c") is None


def test_what_was_persisted_is_there_for_the_next_owner(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4, seen=("x", "y")), rejected=1))
    lease, state = store.open(HOME)
    assert state == PartitionState(
        next_offset=5,
        read=5,
        rejected=1,
        rejected_in_a_row=2,
        rejected_share=0.1,
        last_record_fingerprint="mark-5",
        campaigns=("c",),
        outbox=(REJECTION,),
    )
    stored = store.load(lease, "c")
    assert stored is not None
    assert stored.meta == b'{"after":4}'
    assert stored.tables["systems"] == {"a": b"{}", "ü": b"\xf0"}
    assert stored.seen == ("x", "y")
    assert stored.outbox == (Output("ratings.v1", b"c/a", b"value-4"),)


def test_a_later_batch_replaces_rows_and_outbox_and_appends_ids(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4, seen=("x", "y"))))
    store.persist(lease, commit(5, 9, change(4, 8, row=b"new", seen=("z",))))
    stored = store.load(lease, "c")
    assert stored is not None
    assert stored.tables["systems"]["a"] == b"new"
    assert stored.seen == ("x", "y", "z")
    assert [output.value for output in stored.outbox] == [b"value-8"]


def test_a_whole_change_replaces_everything(store: Store) -> None:
    lease, _ = store.open(HOME)
    first = change(-1, 4, seen=("x", "y"))
    first.tables["judges"]["gone"] = b"{}"
    store.persist(lease, commit(0, 5, first))
    store.persist(lease, commit(5, 9, change(4, 8, seen=("z",), whole=True)))
    stored = store.load(lease, "c")
    assert stored is not None
    assert stored.tables["judges"] == {}
    assert stored.seen == ("z",)


def test_only_the_last_ids_are_kept(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4, seen=tuple("abcdef"), kept=4)))
    stored = store.load(lease, "c")
    assert stored is not None
    assert stored.seen == tuple("cdef")


def test_exactly_the_last_ids_are_kept_whatever_the_sizes_of_the_batches(store: Store) -> None:
    lease, _ = store.open(HOME)
    ids: list[str] = []
    for number, size in enumerate((3, 1, 4, 0, 1, 5, 9, 2)):
        new = tuple(f"id-{len(ids) + k}" for k in range(size))
        ids += new
        store.persist(lease, commit(number, number + 1, change(number - 1, number, seen=new, kept=7)))
        stored = store.load(lease, "c")
        assert stored is not None
        assert stored.seen == tuple(ids[-7:])
    assert [store.has_seen("c", each) for each in (*ids[-7:], "another")] == [True] * 7 + [False]


def test_the_same_commit_again_is_written_once(store: Store) -> None:
    lease, _ = store.open(HOME)
    batch = commit(0, 5, change(-1, 4, seen=("x",)))
    store.persist(lease, batch)
    store.persist(lease, batch)
    stored = store.load(lease, "c")
    assert stored is not None
    assert stored.seen == ("x",)


def test_a_campaign_can_be_changed_without_a_record_and_stays_at_its_offset(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4, seen=("x",))))
    amended = replace(change(4, 4), meta=b'{"after":4,"more":1}', outbox=(Output("match-requests.v1", b"c", b"new"),))
    store.amend(lease, amended)
    store.amend(lease, amended)
    lease, state = store.open(HOME)
    assert state.next_offset == 5
    found = store.load(lease, "c")
    assert found is not None
    assert (found.meta, found.seen, found.offset, found.problem) == (amended.meta, ("x",), 4, None)
    assert found.outbox == amended.outbox
    store.persist(lease, commit(5, 7, change(4, 6)))


def test_a_change_without_a_record_is_refused_at_another_offset_and_for_a_former_owner(store: Store) -> None:
    former, _ = store.open(HOME)
    store.persist(former, commit(0, 5, change(-1, 4)))
    with pytest.raises(Conflict):
        store.amend(former, change(3, 3))
    with pytest.raises(Conflict):
        store.amend(former, change(9, 9, campaign="unknown"))
    lease, _ = store.open(HOME)
    store.load(lease, "c")
    with pytest.raises(Fenced):
        store.amend(former, change(4, 4))
    found = store.read("c")
    assert found is not None
    assert found.outbox == change(-1, 4).outbox


def test_batches_of_several_partitions_are_written_together_and_one_that_is_refused_holds_up_no_other(
    store: Store,
) -> None:
    former, _ = store.open("judgments.v1/1")
    store.open("judgments.v1/1")
    (home, _), (ahead, _) = store.open(HOME), store.open("judgments.v1/2")
    commits = [
        (home, commit(0, 5, change(-1, 4, seen=("x",)), change(-1, 3, campaign="d"))),
        (former, commit(0, 5, change(-1, 4, campaign="e"))),
        (ahead, commit(3, 5, change(-1, 4, campaign="f"))),
    ]
    assert [type(error) for error in store.persist_all(commits)] == [type(None), Fenced, Conflict]
    assert [type(error) for error in store.persist_all(commits)] == [type(None), Fenced, Conflict], "once is enough"
    found = store.load(home, "c")
    assert found is not None
    assert (found.seen, found.offset) == (("x",), 4)
    assert [store.read(name) is None for name in "def"] == [False, True, True]
    partitions = [store.read_partition(f"judgments.v1/{number}").get("offset", "0") for number in range(3)]
    assert partitions == ["5", "0", "0"]
    assert store.persist_all([(home, commit(5, 6)), (ahead, commit(0, 1))]) == [None, None]
    assert store.persist_all([]) == []


def test_the_leases_that_have_ended_are_found_together(store: Store) -> None:
    (former, _), (other, _) = store.open(HOME), store.open("judgments.v1/1")
    store.open(HOME)
    assert [type(error) for error in store.check_leases([former, other])] == [Fenced, type(None)]


def test_a_former_owner_writes_nothing(store: Store) -> None:
    former, _ = store.open(HOME)
    store.persist(former, commit(0, 5, change(-1, 4)))
    owner, _ = store.open(HOME)
    with pytest.raises(Fenced):
        store.persist(former, commit(5, 9, change(4, 8, row=b"stale"), rejected=1))
    _, state = store.open(HOME)
    assert (state.next_offset, state.rejected) == (5, 0)
    assert owner.epoch > former.epoch
    stored = store.read("c")
    assert stored is not None
    assert stored.meta == b'{"after":4}'


def test_a_former_owner_loads_nothing(store: Store) -> None:
    former, _ = store.open(HOME)
    store.persist(former, commit(0, 5, change(-1, 4)))
    owner, _ = store.open(HOME)
    store.load(owner, "c")
    with pytest.raises(Fenced):
        store.load(former, "c")


def test_a_gap_in_the_partition_is_a_conflict_and_writes_nothing(store: Store) -> None:
    lease, _ = store.open(HOME)
    with pytest.raises(Conflict):
        store.persist(lease, commit(3, 5, change(-1, 4)))
    assert store.load(lease, "c") is None


def test_a_gap_in_one_campaign_keeps_the_partition_where_it_was(store: Store) -> None:
    lease, _ = store.open(HOME)
    with pytest.raises(Conflict):
        store.persist(lease, commit(0, 5, change(-1, 4), change(2, 3, campaign="d")))
    lease, state = store.open(HOME)
    assert (state.next_offset, state.read) == (0, 0)
    assert store.load(lease, "d") is None
    if isinstance(store, RedisStore) and store.client.is_cluster:
        assert state.campaigns == ("c", "d"), "what the batch wrote of its campaigns is found again"
    else:
        assert store.load(lease, "c") is None


def test_what_another_epoch_wrote_is_no_reply_that_was_lost(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4)))
    owner, _ = store.open(HOME)
    with pytest.raises(Conflict):
        store.persist(owner, commit(5, 9, change(-1, 4, row=b"another")))


def test_looking_takes_nothing_over(store: Store) -> None:
    assert (store.read_partition(HOME), store.list_campaigns([HOME])) == ({}, [])
    assert (store.read("c"), store.read_meta("c")) == (None, None)
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4, seen=("x",)), change(-1, 3, campaign="b"), rejected=1))
    head = store.read_partition(HOME)
    assert (head["epoch"], head["offset"], head["read"], head["rejected"]) == ("1", "5", "5", "1")
    assert (head["rejected_in_a_row"], head["mark"]) == ("2", "mark-5")
    assert store.list_campaigns([HOME, "judgments.v1/1"]) == ["b", "c"]
    assert store.read("c") == store.load(lease, "c")
    found = store.read("c")
    assert found is not None
    assert found.scores == {"a": 1.5}
    store.persist(lease, commit(5, 9, change(4, 8)))


def test_a_withdrawn_system_has_no_score(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4)))
    store.persist(lease, commit(5, 6, replace(change(4, 5), scores={"b": 0.1}, withdrawn=("a",))))
    found = store.read("c")
    assert found is not None
    assert found.scores == {"b": 0.1}


def test_a_campaign_is_written_by_one_partition_only(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4)))
    other, _ = store.open("judgments.v1/1")
    with pytest.raises(ForeignCampaign, match=r"judgments\.v1/0"):
        store.load(other, "c")
    with pytest.raises(Conflict):
        store.persist(other, commit(0, 1, change(-1, 0)))
    assert store.open("judgments.v1/1")[1] == PartitionState(), "it is not listed where it does not live"
    assert store.list_campaigns([HOME, "judgments.v1/1"]) == ["c"]


def test_a_batch_of_many_rows_is_written_whole(store: Store) -> None:
    lease, _ = store.open(HOME)
    big = change(-1, 4, seen=tuple(str(number) for number in range(9000)), kept=10_000)
    big.tables["segments"].update({f"segment-{number}": b"%d" % number for number in range(9000)})
    store.persist(lease, commit(0, 5, big))
    stored = store.load(lease, "c")
    assert stored is not None
    assert stored.seen == big.seen.ids()
    assert stored.tables["segments"] == big.tables["segments"]


def test_an_outline_is_all_but_the_ids_seen_and_the_head_says_where_it_is(store: Store) -> None:
    lease, _ = store.open(HOME)
    assert store.read("c", with_seen=False) is None
    assert store.read_head("c") == {}
    store.persist(lease, commit(0, 3, change(-1, 2, seen=("x", "y"))))
    whole = store.read("c")
    assert whole is not None
    assert whole.seen == ("x", "y")
    assert store.read("c", with_seen=False) == replace(whole, seen=())
    assert store.read_head("c") == {"epoch": "1", "partition": HOME, "offset": "2"}


def test_removed_rows_are_gone_and_the_state_is_whole(store: Store) -> None:
    lease, _ = store.open(HOME)
    first = change(-1, 4)
    row = JudgeRow(index=0, judgments=3, timed=0, duration_ms=0, agreed=1, compared=2)
    first.tables["judges"].update({"old": encode_row(row), "stays": b"broken"})
    store.persist(lease, commit(0, 5, first))
    assert store.read_judge("c", "old") == row
    assert (store.read_judge("c", "new"), store.read_judge("nowhere", "old")) == (None, None)
    second = replace(change(4, 8), removed={"judges": ["old", "never there"], "cells": []})
    second.tables["judges"]["new"] = encode_row(row)
    store.persist(lease, commit(5, 9, second))
    stored = store.load(lease, "c")
    assert stored is not None
    assert stored.problem is None
    assert stored.tables["judges"] == {"new": encode_row(row), "stays": b"broken"}
    assert (store.read_judge("c", "old"), store.read_judge("c", "new")) == (None, row)
    with pytest.raises(StoreCorrupt, match="the row of a judge can't be read"):
        store.read_judge("c", "stays")


def test_outstanding_match_requests_keep_their_order_with_any_batch(store: Store) -> None:
    lease, _ = store.open(HOME)
    settings = CampaignSettings(systems=("a", "b", "c"), outstanding=12)
    campaign, last = Campaign("c"), 5
    for offset in range(last):
        event = judgment(offset, request=[*campaign.outstanding][3]) if offset else None
        create = Create(id="create", campaign="c", at=NOON, settings=settings)
        result = campaign.apply([offset], [event or create])
        store.persist(lease, commit(offset, offset + 1, campaign.drain_changes(result, ())))
        meta, whole = store.read_meta("c"), store.read("c")
        assert meta is not None
        assert whole is not None
        assert meta.outstanding == tuple(campaign.outstanding.values())
        assert decode_meta("c", whole.meta).outstanding == meta.outstanding
        if offset == 2:
            campaign = Campaign.restore("c", whole)
    assert len(campaign.outstanding) == 12
