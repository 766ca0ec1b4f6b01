"""Fresh keys beside the live ones: swapped in whole, and only by who wrote them and owns the partition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from streams.core.campaign.state import StoredCampaign
from streams.errors import Conflict, Fenced
from streams.stores.redis.staging import PART, Staging
from streams.stores.redis.store import RedisStore
from streams.stores.redis.units import campaign_unit
from tests.stores.test_conformance import HOME, change, commit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.core.campaign.state import CampaignChange

pytestmark = pytest.mark.integration


@pytest.fixture(params=["servers", "cluster"])
def live(request: pytest.FixtureRequest, namespace: str) -> Iterator[RedisStore]:
    server = request.getfixturevalue(request.param)
    store = RedisStore(server if isinstance(server, str) else server.redis, namespace=namespace)
    yield store
    store.close()


def keys(store: RedisStore) -> set[str]:
    return {key.decode() for key in store.client.redis.scan_iter(f"judgestream:{store.keys.namespace}:*")}


def whole(after: int, row: bytes) -> CampaignChange:
    made = change(-1, after, row=row, seen=("new",), whole=True)
    made.tables["judges"]["judge"] = row
    return made


def found(store: RedisStore) -> StoredCampaign:
    stored = store.read("c")
    assert stored is not None
    return stored


def test_what_is_fresh_is_not_live_until_it_is_swapped_and_then_nothing_else_is(live: RedisStore) -> None:
    lease, _ = live.open(HOME)
    first = change(-1, 4, seen=("x",))
    first.tables["segments"]["gone"] = b"{}"
    live.persist(lease, commit(0, 5, first))
    names, before = keys(live), live.read("c")
    staging = Staging(live)
    staging.put_campaign(lease, whole(4, b"fresh"))
    assert live.read("c") == before
    assert staging.fresh.read("c") is not None
    staging.swap_campaign(lease, "c")
    assert found(live).tables["judges"] == {"judge": b"fresh"}
    assert found(live).tables["segments"] == {}
    assert found(live).seen == ("new",)
    assert {name for name in keys(live) if ":fresh" in name} == set()
    assert names - keys(live) == {live.keys.campaign("c", "segments")}
    live.persist(lease, commit(5, 9, change(4, 8)))


def test_a_former_owner_swaps_nothing_in(live: RedisStore) -> None:
    former, _ = live.open(HOME)
    live.persist(former, commit(0, 5, change(-1, 4)))
    staging = Staging(live)
    staging.put_campaign(former, whole(4, b"stale"))
    owner, _ = live.open(HOME)
    live.load(owner, "c")
    before = live.read("c")
    with pytest.raises(Fenced):
        staging.swap_campaign(former, "c")
    with pytest.raises(Fenced):
        staging.remove_campaign(former, "c")
    assert live.read("c") == before


def test_what_another_rebuild_wrote_is_not_swapped_in(live: RedisStore) -> None:
    former, _ = live.open(HOME)
    live.persist(former, commit(0, 5, change(-1, 4)))
    before = live.read("c")
    Staging(live).put_campaign(former, whole(3, b"another's"))
    owner, _ = live.open(HOME)
    with pytest.raises(Conflict):
        Staging(live).swap_campaign(owner, "c")
    assert live.read("c") == before
    Staging(live).put_campaign(owner, whole(4, b"own"))
    with pytest.raises(Fenced):
        live.write(former, [campaign_unit(Staging(live).fresh.keys, change(4, 5))])


def test_another_partitions_campaign_is_not_swapped_out(live: RedisStore) -> None:
    lease, _ = live.open(HOME)
    live.persist(lease, commit(0, 5, change(-1, 4)))
    before = live.read("c")
    other, _ = live.open("judgments.v1/1")
    staging = Staging(live)
    staging.put_campaign(other, whole(4, b"fresh"))
    with pytest.raises(Conflict):
        staging.swap_campaign(other, "c")
    assert live.read("c") == before


def test_a_campaign_that_takes_many_calls_is_swapped_in_whole(live: RedisStore) -> None:
    lease, _ = live.open(HOME)
    big = change(-1, 4, seen=tuple(str(number) for number in range(2 * PART + 1)), kept=3 * PART, whole=True)
    big.tables["segments"].update({f"segment-{number}": b"%d" % number for number in range(PART)})
    staging = Staging(live)
    staging.put_campaign(lease, replace(big, after=3))
    staging.put_campaign(lease, big)
    staging.swap_campaign(lease, "c")
    assert found(live).seen == big.seen.ids()
    assert found(live).tables == big.tables
    assert live.read_head("c") == {"epoch": "1", "partition": HOME, "offset": "4"}
    assert live.list_campaigns([HOME]) == ["c"]


def test_the_head_of_a_partition_is_swapped_in_and_its_campaigns_stay_listed(live: RedisStore) -> None:
    lease, _ = live.open(HOME)
    live.persist(lease, commit(0, 5, change(-1, 4)))
    staging = Staging(live)
    staging.put_partition(lease, commit(0, 7, rejected=3))
    staging.swap_partition(lease)
    _, state = live.open(HOME)
    assert (state.next_offset, state.read, state.rejected, state.last_record_fingerprint) == (7, 7, 3, "mark-7")
    assert (state.campaigns, len(state.outbox)) == (("c",), 1)
    with pytest.raises(Fenced):
        live.persist(lease, commit(7, 9))
