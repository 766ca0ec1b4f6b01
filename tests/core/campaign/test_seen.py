"""The last ids are remembered, whether they come as texts or as scanned judgments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

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
            assert seen.drain_changes() == tuple(everything[drained:][-kept:])
            drained = len(everything)
        elif action == "discard":
            seen.discard_changes()
            drained = len(everything)
    assert seen.drain_changes() == tuple(everything[drained:][-kept:])
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
