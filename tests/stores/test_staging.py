"""One suite for every store: a campaign that is rated again is staged beside the live one, and swapped in whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from streams.errors import Conflict, Fenced
from streams.wire.id_text import IdText
from tests.stores.test_conformance import HOME, change, commit

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.campaign.state import CampaignChange
    from streams.stores import Lease, Store


def first(**more: object) -> CampaignChange:
    return replace(change(-1, 0, row=b"{1}", seen=("x",), whole=True), **more)  # type: ignore[arg-type]


def live(store: Store) -> Lease:
    """Open the partition, with one campaign at offset 4."""
    lease, _ = store.open(HOME)
    store.persist(lease, commit(0, 5, change(-1, 4, seen=("old",))))
    return lease


def test_what_is_staged_changes_nothing_that_is_live(store: Store) -> None:
    lease = live(store)
    before = store.read("c"), store.read_head("c"), store.read_partition(HOME)
    store.stage(lease, first(), position=3)
    assert (store.read("c"), store.read_head("c"), store.read_partition(HOME)) == before


def test_it_is_staged_step_by_step_and_a_repeated_step_is_written_once(store: Store) -> None:
    lease = live(store)
    store.stage(lease, first(), position=3)
    second = change(0, 1, row=b"{2}", seen=("y",))
    for _ in range(2):
        store.stage(lease, second, position=8)
    found = store.read_staged(lease, "c")
    assert found is not None
    assert (found.step, found.position) == (1, 8)
    assert found.state.seen == ("x", "y")
    assert found.state.tables["systems"]["a"] == b"{2}"
    assert found.state.meta == second.meta


def test_a_step_that_is_not_the_next_is_refused(store: Store) -> None:
    lease = live(store)
    store.stage(lease, first(), position=3)
    with pytest.raises(Conflict):
        store.stage(lease, change(4, 5), position=9)


def test_a_whole_change_replaces_what_was_staged(store: Store) -> None:
    lease = live(store)
    store.stage(lease, first(), position=3)
    store.stage(lease, change(0, 1, seen=("y",)), position=8)
    for seen, position in (("z", 2), ("w", 1)):
        store.stage(lease, first(seen=IdText.of([seen])), position=position)
        found = store.read_staged(lease, "c")
        assert found is not None
        assert (found.step, found.position, found.state.seen) == (0, position, (seen,))


def test_it_is_swapped_in_whole_at_its_own_offset(store: Store) -> None:
    lease = live(store)
    store.stage(lease, first(seen=IdText.of(["x"])), position=9)
    store.swap_staged(lease, "c", offset=4)
    found = store.read("c")
    assert found is not None
    assert (found.seen, found.tables["systems"]["a"], found.outbox) == (("x",), b"{1}", first().outbox)
    assert store.read_head("c") == {"epoch": str(lease.epoch), "partition": HOME, "offset": "4"}
    assert store.read_staged(lease, "c") is None
    store.persist(lease, commit(5, 7, change(4, 6)))
    assert store.read_head("c")["offset"] == "6"


def test_a_campaign_whose_live_state_is_lost_is_listed_again(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.stage(lease, first(), position=9)
    store.swap_staged(lease, "c", offset=4)
    assert store.list_campaigns([HOME]) == ["c"]
    assert store.read_head("c")["offset"] == "4"


def test_only_what_the_lease_has_staged_is_swapped_in(store: Store) -> None:
    lease = live(store)
    with pytest.raises(Conflict):
        store.swap_staged(lease, "c", offset=4)
    store.stage(lease, first(), position=9)
    lease, _ = store.open(HOME)
    store.load(lease, "c")
    with pytest.raises(Conflict):
        store.swap_staged(lease, "c", offset=4)


def test_a_new_owner_goes_on_and_the_former_one_is_fenced_off(store: Store) -> None:
    former = live(store)
    store.stage(former, first(), position=3)
    lease, _ = store.open(HOME)
    store.load(lease, "c")
    found = store.read_staged(lease, "c")
    assert found is not None
    calls: tuple[Callable[[], object], ...] = (
        lambda: store.stage(former, change(0, 1), position=5),
        lambda: store.stage(former, first(), position=5),
        lambda: store.read_staged(former, "c"),
        lambda: store.swap_staged(former, "c", offset=4),
        lambda: store.drop_staged(former, "c"),
        lambda: store.remove(former, "c"),
    )
    for call in calls:
        with pytest.raises(Fenced):
            call()
    store.stage(lease, change(0, 1, seen=("y",)), position=5)
    store.swap_staged(lease, "c", offset=4)
    assert store.read_head("c")["epoch"] == str(lease.epoch)


def test_what_is_dropped_is_gone(store: Store) -> None:
    lease = live(store)
    store.stage(lease, first(), position=3)
    store.drop_staged(lease, "c")
    assert store.read_staged(lease, "c") is None
    assert store.read("c") is not None


def test_a_campaign_can_be_removed_with_what_is_staged(store: Store) -> None:
    lease = live(store)
    store.stage(lease, first(), position=3)
    store.remove(lease, "c")
    assert store.read("c") is None
    assert store.read_staged(lease, "c") is None
    assert store.list_campaigns([HOME]) == []
