"""The rule for campaign names stands in one place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streams
from streams.wire.campaign_names import CAMPAIGN_PATTERN, is_campaign_name, to_campaign_name

PAGE = Path(streams.__file__).parent / "monitor" / "page"


@pytest.mark.parametrize("name", ["a", "9", "wmt13.fr-en", "a_b", "x" * 200])
def test_names_that_are_accepted(name: str) -> None:
    assert is_campaign_name(name)


@pytest.mark.parametrize("name", ["", ".a", "-a", "_a", "a b", "a/b", "é", "a\n", "x" * 201])
def test_names_that_are_refused(name: str) -> None:
    assert not is_campaign_name(name)


@given(st.text())
def test_a_text_becomes_a_campaign_name_or_nothing(text: str) -> None:
    name = to_campaign_name(text)
    assert not name or is_campaign_name(name)


def test_the_page_has_the_same_rule() -> None:
    rules = [found for file in PAGE.rglob("*.js") for found in re.findall(r"/(\^\[A-Za-z0-9\]\S*?)/", file.read_text())]
    assert rules == [CAMPAIGN_PATTERN.replace(r"(?!\n)", "")]
