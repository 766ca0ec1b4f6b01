"""Names that are given as numbers get the same indices as names that are looked up one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streams.core.campaign.names import OTHERS, NameIndex, NumberedNames, SegmentIndex

LETTERS = "abcdefgh"
batches = st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 7), min_size=1, max_size=12)), max_size=6)


@given(batches, st.integers(1, 8), st.sampled_from([NameIndex, SegmentIndex]))
def test_numbers_of_one_list_or_of_several_give_the_same_indices(
    batches: list[tuple[bool, list[int]]], most: int, kind: type[NameIndex]
) -> None:
    numbered, plain = kind(most), kind(most)
    names = list(LETTERS)
    for is_new, numbers in batches:
        if is_new:  # the scanner has forgotten its names
            names = [*reversed(names)]
        given = NumberedNames(np.array(numbers), names)
        assert numbered.find_numbered(given).tolist() == [plain.index.get(names[each], -1) for each in numbers]
        assert numbered.add_numbered(given).tolist() == [plain.add(names[each]) for each in numbers]
        assert numbered.names == plain.names


def test_a_renamed_judge_is_another_one_when_they_come_back() -> None:
    known, given = NameIndex(), NumberedNames(np.array([0, 1]), ["a", "b"])
    assert known.add_numbered(given).tolist() == [0, 1]
    known.rename("a", "forgotten")
    assert known.add_numbered(given).tolist() == [2, 1]


def test_a_segment_that_is_listed_later_gets_an_index_of_its_own() -> None:
    known, given = SegmentIndex(1), NumberedNames(np.array([0, 1]), ["a", "b"])
    assert known.add_numbered(given).tolist() == [0, 1]
    assert known.names == ["a", OTHERS]
    assert known.insert("b") == 2
    assert known.add_numbered(given).tolist() == [0, 2]


def test_few_names_of_many_are_looked_up_without_room_for_all() -> None:
    known = NameIndex()
    assert known.add_numbered(NumberedNames(np.array([900, 3, 900]), [str(each) for each in range(1000)])).tolist() == [
        0,
        1,
        0,
    ]
    assert known._known is None
