"""Ids come back from their text as they were, whatever characters they have."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streams.wire.id_text import IdText

ids = st.lists(st.text(st.sampled_from("ab\\n\n\0ü"), min_size=1, max_size=5), max_size=6)


@given(ids, ids)
def test_ids_come_back_as_they_were(first: list[str], second: list[str]) -> None:
    text = IdText.of(first)
    assert (text.ids(), text.count) == (tuple(first), len(first))
    both = IdText.join([text, IdText.of(second)])
    assert (both.ids(), both.count) == ((*first, *second), len(first) + len(second))


@given(ids, st.integers(1, 8))
def test_the_last_ids_are_cut_off(given: list[str], count: int) -> None:
    assert IdText.of(given).last(count).ids() == tuple(given[-count:])
