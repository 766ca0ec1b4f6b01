"""A campaign's stored meta: of this layout, of an earlier one, and unreadable."""

from __future__ import annotations

import msgspec
import pytest

from streams.core.campaign.state import LAYOUT, decode_meta
from streams.errors import StoreCorrupt, StoreNewer
from streams.wire.events import MatchRequest

# Written by the last version that used layout 1.
LAYOUT_1 = b"""{"layout":1,"standing":{"campaign":"c","state":"open","settings":{"model":"trueskill","parameters":{},
"systems":[],"segments":[],"baseline":null,"budget":null,"policy":"information","outstanding":2,"ways":2,
"segment_choice":"least","request_seconds":3600.0,"stop_confidence":null,"replicas":200,"judge_per_minute":null,
"too_fast":"flag"},"withdrawn":[],"excluded":[],"offset":0,"command":null},"offset":1,"clock":"2019-12-20T12:00:02Z",
"counts":{"judgments":2,"commands":0,"duplicates":0,"rejected":0,"retracted":0},"opened":0,"outstanding":[
{"id":"judgments.v1/0/1/0","systems":["b","c"],"segment":"segment","expires_at":"2019-12-20T13:00:02Z"},
{"id":"judgments.v1/0/1/1","systems":["a","c"],"segment":null,"expires_at":"2019-12-20T13:00:02Z"}],
"retractions":{"ids":[],"judges":{}}}"""


def test_layout_1_is_read_with_requests_that_satisfy_the_contract() -> None:
    meta = decode_meta("c", LAYOUT_1)
    assert (meta.layout, meta.offset, meta.counts.judgments, meta.status.campaign) == (LAYOUT, 1, 2, "c")
    first, second = meta.outstanding
    assert (first.id, first.systems, first.segment) == ("judgments.v1/0/1/0", ("b", "c"), "segment")
    assert (first.campaign, first.why, first.information, second.segment) == ("c", "unknown", 0.0, None)
    for request in meta.outstanding:
        assert msgspec.json.decode(msgspec.json.encode(request), type=MatchRequest) == request
    assert decode_meta("c", msgspec.json.encode(meta)) == meta


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        LAYOUT_1.replace(b'"standing"', b'"status"'),
        LAYOUT_1.replace(b'"outstanding":[', b'"outstanding":[1,'),
        LAYOUT_1.replace(b'"outstanding":[', b'"outstanding":["id",'),
        LAYOUT_1.replace(b'"layout":1', b'"layout":2'),
    ],
)
def test_a_damaged_record_is_reported_as_such(damaged: bytes) -> None:
    with pytest.raises(StoreCorrupt, match="campaign 'c': its stored state can't be read: "):
        decode_meta("c", damaged)


def test_a_record_of_a_later_version_is_refused() -> None:
    with pytest.raises(StoreNewer, match=f"campaign 'c': stored in layout {LAYOUT + 1}, .* update Judgestream"):
        decode_meta("c", LAYOUT_1.replace(b'"layout":1', b'"layout":%d' % (LAYOUT + 1)))
