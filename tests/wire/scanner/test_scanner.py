"""What is scanned into columns is what decoding gives; whatever else is in a block is left to the decoder."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streams import formats
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.options import CampaignOptions
from streams.formats import json_lines
from streams.offline.rating import rate
from streams.wire.decoding import decode
from streams.wire.events import CampaignSettings, Judgment
from streams.wire.scanner import JudgmentColumns, Scanner, kernels
from streams.wire.scanner.kernels.lines import ROWS
from streams.wire.scanner.kernels.text import PADDING
from streams.wire.scanner.seed import SEED
from tests.builders import crowd_log, judgment
from tests.wire.scanner.columns import GOOD, block_of, meant, scanned, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.state import CampaignChange

times = st.one_of(
    st.datetimes().map(lambda time: f"{time.isoformat()}Z"),
    st.sampled_from(
        [
            "2023-02-29T00:00:00Z",
            "2000-02-29T00:00:00+00:00",
            "2024-01-01T00:00:00+02:00",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T00:00:00.1234567Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01 00:00:00Z",
            "2024-01-01T00:00:00z",
            "2024-01-01T00:00:00",
            "9500-01-01T00:00:00Z",
            "2024-01-01T00:00:00ZZ",
        ]
    ),
)
names = st.one_of(
    st.sampled_from(
        ["a", "b", "12345678", "123456789", "é", 'q"', "b\\", "\u2028", "", "x" * 200, "x" * 201, "é" * 150]
    ),
    st.text(max_size=20),
)
events = st.fixed_dictionaries(
    {
        "id": names,
        "campaign": st.sampled_from(["c", "c.d-e", "c!", "é", "c" * 201]),
        "segment": names,
        "judge": names,
        "systems": st.lists(names, max_size=4),
        "at": times,
    },
    optional={
        "ranks": st.one_of(st.none(), st.lists(st.sampled_from([0, 1, 2, 10**6, 10**6 + 1, 1.0, True]), max_size=4)),
        "score": st.one_of(st.none(), st.floats(0, 100)),
        "version": st.sampled_from(["1", "1.5", "2", 1]),
        "request": names,
        "source": st.sampled_from(["", "x" * 1000, "x" * 1001, "mobile"]),
        "duration_ms": st.sampled_from([0, 17, 2**53, 2**53 + 1, -1, 1.5, None]),
        "duration_mx": st.just(5),
        "tags": st.sampled_from([{}, {"a": "b"}, {"a": "b", "": "c"}, {"a": "b", "c": "d"}, {"a": 1}, {"a": {}}, None]),
        "extra": st.sampled_from([[], [[1]], {"a": {}}]),
    },
)


@settings(max_examples=400)
@given(st.lists(events, min_size=1, max_size=3), st.booleans(), st.booleans())
@example([GOOD | {"systems": ["a", "a"]}], True, True)
@example([GOOD | {"ranks": [1, 2, 2]}], True, True)
@example([GOOD, GOOD | {"systems": ["a"], "ranks": [1]}], True, False)
@example([GOOD | {"score": 5.0}], False, False)
@example([GOOD | {"at": "2024-02-30T00:00:00Z"}], False, False)
def test_what_is_scanned_is_what_decoding_gives(log: list[dict[str, Any]], compact: bool, ascii_only: bool) -> None:
    separators = (",", ":") if compact else None
    data = "".join(json.dumps(each, separators=separators, ensure_ascii=ascii_only) + "\n" for each in log)
    block = scanned(data.encode(errors="surrogatepass"))
    if block is not None:
        decoded = [decode(line, max_bytes=2**20) for line in data.encode().split(b"\n")[:-1]]
        assert told(block) == [meant(each) for each in decoded if isinstance(each, Judgment)]
        assert list(block) == decoded


@pytest.mark.parametrize("ways", [2, 5])
def test_ordinary_rankings_are_scanned(ways: int) -> None:
    log = crowd_log(300, campaigns=3, ways=ways)
    log[7] = msgspec.structs.replace(log[7], duration_ms=1234, request="r", source="a phone", judge="ü" * 90)
    log[8] = msgspec.structs.replace(log[8], tags={str(number): "x" * 200 for number in range(8)})
    block = scanned(block_of(log))
    assert block is not None
    assert told(block) == [meant(each) for each in log]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b'{"id":"1"}',
        json.dumps(GOOD).encode() + b" ",
        json.dumps(GOOD).encode()[:-1],
        json.dumps(GOOD).encode() + json.dumps(GOOD).encode(),
        json.dumps(GOOD).replace('"id": "1"', '"id": "1", "id": "1"').encode(),
        json.dumps(GOOD).replace('"s"', '"s\n"').encode(),
        json.dumps(GOOD).replace("[1, 2]", "[01, 2]").encode(),
        json.dumps(GOOD).replace("[1, 2]", "[1, 2,]").encode(),
        json.dumps(GOOD).replace("[1, 2]", "[1 2]").encode(),
        json.dumps(GOOD).replace('"id"', 'id"').encode(),
        json.dumps(GOOD).replace('"s"', "'s'").encode(),
        json.dumps(GOOD).replace('"s"', '"\xff"').encode("latin-1"),
        json.dumps(GOOD).replace('"j"', '"j').encode(),
        json.dumps(GOOD | {"score": None}).encode(),
        json.dumps(GOOD | {"tags": {"language": 1}}).encode(),
        json.dumps(GOOD | {"tags": {str(number): "x" for number in range(9)}}).encode(),
        json.dumps(GOOD | {"segment": "b\\"}).encode(),
        json.dumps(GOOD | {"campaign": "c!"}).encode(),
        json.dumps(GOOD | {"at": "2024-04-31T00:00:00Z"}).encode(),
        json.dumps(GOOD | {"at": "9500-01-01T00:00:00Z"}).encode(),
        json.dumps({**GOOD, "systems": [f"s{i}" for i in range(101)], "ranks": [1] * 101}).encode(),
    ],
)
def test_what_is_not_ordinary_is_left_to_a_closer_look(line: bytes) -> None:
    good = json.dumps(GOOD).encode() + b"\n"
    assert scanned(good) is not None
    assert scanned(good + line + b"\n") is None
    assert scanned(line + b"\n" + good) is None


@given(st.binary(max_size=60), st.integers(0, 200))
def test_damaged_lines_give_what_decoding_gives_or_nothing(noise: bytes, place: int) -> None:
    line = json.dumps(GOOD).encode()
    data = line[:place] + noise + line[place + len(noise) :] + b"\n"
    block = scanned(data)
    if block is not None:
        decoded = [decode(line, max_bytes=2**20) for line in data.split(b"\n")[:-1]]
        assert told(block) == [meant(each) for each in decoded if isinstance(each, Judgment)]


def test_there_is_room_for_every_name() -> None:
    log = [judgment(number, segment=f"segment {number} {'x' * (number % 150)}") for number in range(9000)]
    scanner = Scanner()
    blocks = [log[:5000], log[5000:]]
    found = [scanner.scan(block_of(part)) for part in blocks]
    segments = [[block.names[number] for number in block.segments] for block in found if block]
    assert segments == [[each.segment for each in part] for part in blocks]


@np.errstate(over="ignore")  # the hash is a sum modulo a power of two
def test_the_loops_give_the_same_as_they_stand_and_compiled() -> None:
    data = block_of(crowd_log(40, campaigns=2, ways=3))
    answers = []
    for scan, given_data in (
        (kernels.plain("lines").scan_lines, data + bytes(PADDING)),
        (kernels.compiled("lines").scan_lines, np.frombuffer(data + bytes(PADDING), np.uint8)),
    ):
        tables = [np.full(256, -1, np.int32), *(np.zeros(size, np.int64) for size in (128, 129, 512, 1))]
        out = [np.zeros((ROWS, 40), np.int64), np.zeros(41, np.int64), *np.zeros((2, 200), np.int64)]
        quotes = np.zeros(len(data) + 2, np.int64)
        begins = np.append(0, np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1)
        assert scan(given_data, len(data), begins, quotes, SEED, *tables, *out) == 40
        answers.append([array.tolist() for array in (quotes, *tables, *out)])
    assert answers[0] == answers[1]


def with_accidents(count: int, **options: int) -> list[Judgment]:
    """Draw a log with repeats nearby and far away, leaps of time and new names, each in blocks that are sound else."""
    replace = msgspec.structs.replace
    parts = [
        [
            replace(
                each, id=f"{part}-{each.id}", segment=f"{part} {each.segment}", at=each.at + timedelta(hours=10 * part)
            )
            for each in crowd_log(count, seed=part, **options)
        ]
        for part in range(6)
    ]
    log = parts[0]
    parts[1] += [parts[1][-1], *log[50:60]]
    parts[2].append(replace(log[0], id="late", at=log[0].at + timedelta(days=900)))
    parts[4].insert(10, replace(log[0], id="new", systems=("new", "system-1"), ranks=(1, 2)))
    return [each for part in parts for each in part]


@pytest.fixture(autouse=True)
def _many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan what is read at once, so that the logs here come in several blocks."""
    monkeypatch.setattr(json_lines, "_BLOCK", 0)


def kept(
    log: Sequence[Judgment], settings: CampaignSettings, *, columns: bool, options: CampaignOptions
) -> CampaignChange:
    """Give all that a store would keep of a log of one campaign that comes in some blocks."""
    reading = formats.read(io.BytesIO(block_of(log)), format="jsonl")
    campaign = Campaign("campaign-0", settings, options=options)
    read, scanned_blocks = 0, 0
    for batch in reading.batches(columns=columns):
        scanned_blocks += isinstance(batch.judgments, JudgmentColumns)
        applied = campaign.apply(range(read, read + len(batch.judgments)), batch.judgments)
        read += len(batch.judgments)
    assert columns == (scanned_blocks > 1)
    return campaign.drain_changes(applied, ())


@pytest.mark.parametrize(
    "options",
    [
        CampaignOptions(),
        CampaignOptions(seen_ids=5),
        CampaignOptions(max_segments=20),
        CampaignOptions(max_judges=4, max_segments=20),
    ],
)
def test_a_log_that_is_scanned_is_rated_to_the_same_bits(options: CampaignOptions) -> None:
    log = with_accidents(2500)
    settings = CampaignSettings(outstanding=0)
    one, other = (kept(log, settings, columns=columns, options=options) for columns in (False, True))
    assert one == other


def test_a_log_of_several_campaigns_is_rated_to_the_same_leaderboards() -> None:
    log = with_accidents(2500, campaigns=3)
    boards = []
    for columns in (False, True):
        reading = formats.read(io.BytesIO(block_of(log)), format="jsonl")
        batches = (batch.judgments for batch in reading.batches(columns=columns))
        rated = rate(batches, CampaignSettings(outstanding=0, replicas=0))
        boards.append({name: (found.leaderboard(), found.counts) for name, found in rated.campaigns.items()})
    assert boards[0] == boards[1]
    assert len(boards[0]) == 3


def test_an_id_that_comes_again_in_another_block_is_a_duplicate() -> None:
    log = [*crowd_log(3000), *crowd_log(3000)]
    rated = []
    for columns in (False, True):
        reading = formats.read(io.BytesIO(block_of(log)), format="jsonl")
        rated.append(rate((each.judgments for each in reading.batches(columns=columns)), CampaignSettings()))
    assert [found.campaigns["campaign-0"].counts.duplicates for found in rated] == [3000, 3000]
