"""A state that an earlier version stored: it is restored, goes on bit for bit, and is written in the new layout."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from streams.core.campaign.state import LAYOUT
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire.events import encode
from tests.builders import crowd_log

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignChange
    from streams.stores import Store
    from streams.stores.commit import Commit

LOG = [Record(number, None, encode(entry)) for number, entry in enumerate(crowd_log(90, campaigns=2, seed=5))]
OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))


def opened(store: Store) -> Processor:
    return Processor.open("judgments.v1", 0, store, OPTIONS)[0]


def in_layout_1(change: CampaignChange) -> CampaignChange:
    meta: dict[str, Any] = msgspec.json.decode(change.meta)
    kept = ("id", "systems", "segment", "expires_at")
    outstanding = [{name: request[name] for name in kept} for request in meta["outstanding"]]
    assert outstanding
    return replace(change, meta=encode(meta | {"layout": 1, "outstanding": outstanding}))


def persist_in_layout_1(processor: Processor, commit: Commit) -> None:
    processor.persist(replace(commit, campaigns=tuple(in_layout_1(change) for change in commit.campaigns)))


def test_a_state_of_layout_1_goes_on_bit_for_bit_and_becomes_layout_2(store: Store) -> None:
    undisturbed = MemoryStore()
    through = opened(undisturbed)
    through.process(LOG[:60])
    expected = through.process(LOG[60:])
    before = opened(store)
    persist_in_layout_1(before, before.prepare(LOG[:60]))
    for campaign in ("campaign-0", "campaign-1"):
        meta = store.read_meta(campaign)
        assert meta is not None
        assert {request.why for request in meta.outstanding} == {"unknown"}
    outputs = opened(store).process(LOG[60:])
    assert outputs == expected
    for campaign in ("campaign-0", "campaign-1"):
        found, wanted = store.read(campaign), undisturbed.read(campaign)
        assert found is not None
        assert wanted is not None
        assert msgspec.json.decode(found.meta)["layout"] == LAYOUT
        assert (found.tables, found.seen) == (wanted.tables, wanted.seen)
        meta, other = store.read_meta(campaign), undisturbed.read_meta(campaign)
        assert meta is not None
        assert other is not None
        sent = {request.id: request for request in other.outstanding}
        assert [request.id for request in meta.outstanding] == list(sent)
        assert all(request in (sent[request.id], unexplained(sent[request.id])) for request in meta.outstanding)
        assert msgspec.structs.replace(meta, outstanding=()) == msgspec.structs.replace(other, outstanding=())


def unexplained(request: Any) -> Any:
    return msgspec.structs.replace(request, why="unknown", information=0.0)
