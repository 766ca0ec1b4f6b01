"""Keys of single campaigns that are lost, damaged or older: the worker notices it and rates these campaigns again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.errors import StoreCorrupt
from tests.integration.test_worker import published
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration

LOST, KEPT = "campaign-0", "campaign-1"


def lose(stack: FaultStack, table: str) -> None:
    """Lose a table of one campaign. `list` stands for the list of the campaigns of its partition."""
    keys = stack.store.keys
    key = keys.campaign(LOST, table)
    with stack.redis() as client:
        if table == "list":
            key = keys.partition(stack.store.read_head(LOST)["partition"], "campaigns")
        assert client.delete(key) == 1


def damage(stack: FaultStack, table: str) -> None:
    """Put a value of another type in the place of a table."""
    with stack.redis() as client:
        client.set(stack.store.keys.campaign(LOST, table), "not a table")


def wait_until_repaired(stack: FaultStack) -> None:
    expected = state_hash(stack.undisturbed(), stack.partitions)

    def is_repaired() -> bool:
        try:
            return stack.hash() == expected
        except StoreCorrupt:
            return False

    stack.wait_for(is_repaired, "the campaign that lost its keys is rated again")


@pytest.mark.parametrize("table", ["meta", "seen", "systems", "list"])
def test_a_worker_rates_a_campaign_again_that_lost_a_key(stack: FaultStack, table: str) -> None:
    records = published(1200, seed=61)
    worker = stack.start_worker()
    stack.publish(records[:600])
    stack.wait_until_read(600)
    lose(stack, table)
    stack.publish(records[600:])
    wait_until_repaired(stack)
    assert worker.process.poll() is None
    stack.assert_undisturbed(records=len(records))


@pytest.mark.parametrize("table", ["meta", "judges"])
def test_a_key_of_another_type_is_replaced_when_the_worker_starts(stack: FaultStack, table: str) -> None:
    records = published(600, seed=62)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(len(records))
    worker.terminate()
    damage(stack, table)
    worker = stack.start_worker()
    wait_until_repaired(stack)
    assert worker.process.poll() is None
    stack.assert_undisturbed(records=len(records))


def test_an_idle_worker_notices_a_lost_key_by_itself(stack: FaultStack) -> None:
    records = published(600, seed=63)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(len(records))
    before = stack.store.read_head(KEPT)
    lose(stack, "seen")
    wait_until_repaired(stack)
    assert worker.process.poll() is None
    assert stack.store.read_head(KEPT)["offset"] == before["offset"]
