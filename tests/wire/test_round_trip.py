"""Any valid judgment survives the wire, and the schema takes what went over it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from streams.wire import schemas
from streams.wire.decoding import decode
from streams.wire.events import Judgment, encode

if TYPE_CHECKING:
    from datetime import tzinfo

VALIDATOR = Draft202012Validator(schemas.schema("Judgment"), format_checker=Draft202012Validator.FORMAT_CHECKER)

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
campaigns = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", fullmatch=True)
zones: st.SearchStrategy[tzinfo] = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@st.composite
def judgments(draw: st.DrawFn) -> Judgment:
    ranked = draw(st.booleans())
    systems = draw(st.lists(names, min_size=2 if ranked else 1, max_size=10 if ranked else 1, unique=True))
    ranks = draw(st.lists(st.integers(1, 1_000_000), min_size=len(systems), max_size=len(systems))) if ranked else None
    return Judgment(
        id=draw(names),
        campaign=draw(campaigns),
        segment=draw(names),
        judge=draw(names),
        systems=tuple(systems),
        at=draw(st.datetimes(max_value=datetime(8999, 1, 1), timezones=zones)),
        ranks=None if ranks is None else tuple(ranks),
        score=None if ranked else draw(st.floats(0, 100)),
        request=draw(st.none() | names),
        duration_ms=draw(st.none() | st.integers(0, 2**53)),
        source=draw(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=1000)),
        tags=draw(st.none() | st.dictionaries(names, names, max_size=8)),
        version=draw(st.from_regex(r"1(\.[0-9]{1,3}){0,4}", fullmatch=True)),
    )


@settings(max_examples=200, deadline=None)
@given(judgments())
def test_a_valid_judgment_survives_the_wire_and_its_schema(judgment: Judgment) -> None:
    wire = encode(judgment)
    assert decode(wire, max_bytes=1_000_000) == judgment
    VALIDATOR.validate(json.loads(wire))
