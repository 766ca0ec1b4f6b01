"""The last ids are remembered, whether they come as texts or as scanned judgments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core.campaign import seen as seen_module
from streams.core.campaign.seen import SeenIds
from streams.wire.events import encode
from streams.wire.scanner import JudgmentColumns, Scanner
from tests.builders import judgment

steps = st.lists(
    st.tuples(st.sampled_from(["text", "scanned", "drain", "discard"]), st.lists(st.integers(0, 30), max_size=8))
)


def scan(numbers: list[int]) -> JudgmentColumns | None:
    return Scanner().scan(b"".join(encode(judgment(number)) + b"\n" for number in numbers))


@given(steps, st.integers(1, 12))
def test_seen_ids_are_an_ordered_set_of_the_last_ones(steps: list[tuple[str, list[int]]], kept: int) -> None:
    seen = SeenIds(kept)
    everything: list[str] = []
    drained = 0
    for action, numbers in steps:
        ids = [judgment(number).id for number in numbers]
        remembered = everything[-kept:]
        if action == "text":
            fresh = [each for each in dict.fromkeys(ids) if each not in seen]
            assert fresh == [each for each in dict.fromkeys(ids) if each not in remembered]
            seen.add_all(fresh)
            everything += fresh
        elif action == "scanned" and (columns := scan(numbers)) is not None:
            if seen.add_scanned(columns):
                assert len(set(ids)) == len(ids)
                assert not set(ids) & set(remembered)
                everything += ids
        elif action == "drain":
            assert seen.drain_changes().ids() == tuple(everything[drained:][-kept:])
            drained = len(everything)
        elif action == "discard":
            seen.discard_changes()
            drained = len(everything)
    assert seen.drain_changes().ids() == tuple(everything[drained:][-kept:])
    assert all(each in seen for each in everything[-kept:])


def test_scanned_ids_that_are_new_are_accepted() -> None:
    first, second, third = scan([1, 2]), scan([3, 4]), scan([5, 3])
    assert first is not None
    assert second is not None
    assert third is not None
    seen = SeenIds(100, ["before"])
    assert seen.add_scanned(first)
    assert seen.add_scanned(second)
    assert not seen.add_scanned(third)
    assert seen.has_any([judgment(4).id])
    assert "before" in seen


def test_a_duplicate_leaves_nothing_of_its_neighbours_behind() -> None:
    """A batch with a duplicate is divided, and the parts are added one after the other."""
    first, mixed, good = scan([1, 2]), scan([3, 2, 4]), scan([3, 4])
    assert first is not None
    assert mixed is not None
    assert good is not None
    seen = SeenIds(100)
    assert seen.add_scanned(first)
    assert not seen.add_scanned(mixed)
    assert seen.add_scanned(good)


def test_many_scanned_ids_of_a_stored_campaign_become_hashes_and_texts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "WORTH_HASHING", 3)
    seen, everything = SeenIds(10), [judgment(number).id for number in range(12)]
    seen.drain_changes()
    for first in range(0, 12, 3):
        columns = scan([*range(first, first + 3)])
        assert columns is not None
        assert seen.add_scanned(columns)
        assert seen.drain_changes().ids() == tuple(everything[first : first + 3])
    assert seen._scanned is not None
    for _ in range(seen_module.QUIET_BATCHES + 1):
        seen.drain_changes()
    assert seen._scanned is None
    assert [each in seen for each in everything] == [False] * 2 + [True] * 10
