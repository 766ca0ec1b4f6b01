"""Outputs that a former owner has emitted late are reported once and for all, until the owner has dealt with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.errors import Fenced

if TYPE_CHECKING:
    from streams.stores import Store

HOME = "judgments.v1/0"


def test_a_lease_is_over_when_the_partition_is_opened_again(store: Store) -> None:
    former, _ = store.open(HOME)
    store.check_lease(former)
    owner, _ = store.open(HOME)
    store.check_lease(owner)
    with pytest.raises(Fenced):
        store.check_lease(former)


def test_a_report_stays_until_the_one_that_was_read_is_cleared(store: Store) -> None:
    store.open(HOME)
    assert store.read_late(HOME) == ""
    store.report_late(HOME)
    first = store.read_late(HOME)
    assert first
    store.report_late(HOME)
    store.clear_late(HOME, first)
    second = store.read_late(HOME)
    assert second not in ("", first)
    store.open(HOME)
    assert store.read_late(HOME) == second, "it is there for the next owner"
    store.clear_late(HOME, second)
    assert store.read_late(HOME) == ""
    assert store.read_late("judgments.v1/1") == ""
