"""Records that are scanned into columns end as records that are decoded one by one, in batches of any size."""

from __future__ import annotations

import json
from datetime import timedelta

import msgspec
import numpy as np
import pytest

from streams.core.campaign import campaign as campaigns
from streams.core.campaign.pseudonyms import wire_pseudonym
from streams.pipeline import decoding
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.commit import Outcomes
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.decoding import decode
from streams.wire.events import Judgment, MatchRequest, encode
from streams.wire.outputs import Output
from streams.wire.scanner import JudgmentColumns, Scanner, kernels
from tests.builders import NOON, crowd_log, judgment
from tests.state_hash import state_hash

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key", max_judges=60, max_segments=50))
PARTITION = "judgments.v1/0"


@pytest.fixture(autouse=True, scope="module")
def _compiled() -> None:
    kernels.compiled("lines")  # so that the scanner is worth it


def odd_values() -> list[bytes | None]:
    """Return records that the scanner must leave to the decoder."""
    good = encode(judgment(9000, campaign="campaign-0", systems=("system-1", "system-2")))
    return [
        None,
        b"",
        b"\xff" + good,
        good[:-3],
        b"}" + good,
        b',"' + good,
        good.replace(b'"id-9000"', b'"id-\\u0041"'),
        good.replace(b'"id-9000"', b'"id-\n9"'),
        json.dumps(json.loads(good), indent=2).encode(),
        good.replace(b"campaign-0", b"no/campaign"),
        good.replace(b"id-9000", b"caf\xc3\xa9"),
        good.replace(b"system-1", b"a new system"),
        good[:-1] + b',"note":"' + b"x" * 1_100_000 + b'"}',
        encode(events.ExcludeJudge(id="x", campaign="campaign-1", judge="judge-3", at=NOON)),
        encode(events.AddSystem(id="s", campaign="campaign-1", system="late", at=NOON)),
    ]


def long_log() -> list[Record]:
    """Return a log of 1,600 records: three campaigns, repeats, pseudonyms, new names, and odd records in between."""
    random = np.random.default_rng(3)
    judged = crowd_log(1500, campaigns=3)
    changed: list[Judgment] = []
    for number, each in enumerate(judged):
        if number % 97 == 0:
            each = msgspec.structs.replace(each, judge=wire_pseudonym(each.judge, "key"))
        if number % 211 == 0:
            each = msgspec.structs.replace(each, at=each.at + timedelta(days=3))
        changed.append(each)
    values: list[bytes | None] = [encode(each) for each in changed]
    for value in (*odd_values(), *odd_values(), *values[100:140], *values[900:915]):
        values.insert(int(random.integers(40, len(values))), value)
    late = (NOON + timedelta(days=400)).timestamp()
    return [Record(2 * n, b"key", value, NOON.timestamp() if n % 50 == 0 else late) for n, value in enumerate(values)]


def run(log: list[Record], size: int) -> tuple[MemoryStore, Outcomes, list[Output]]:
    store = MemoryStore()
    processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS)
    outputs: list[Output] = []
    for start in range(0, len(log), size):
        outputs += processor.process(log[start : start + size])
    return store, processor.counts(), outputs


def rejections(outputs: list[Output]) -> list[bytes]:
    return [output.value for output in outputs if output.topic == topics.REJECTED.name]


def test_scanned_batches_give_the_bits_and_the_rejections_of_single_records() -> None:
    log = long_log()
    store, counts, outputs = run(log, 1)
    for size in (37, 400, 5000):
        scanned, scanned_counts, scanned_outputs = run(log, size)
        assert state_hash(scanned, [PARTITION]) == state_hash(store, [PARTITION])
        assert scanned_counts == counts
        assert sorted(rejections(scanned_outputs)) == sorted(rejections(outputs))
    assert counts.duplicate > 50
    assert counts.rejected > 20


def test_one_odd_record_does_not_send_its_neighbours_to_the_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes | None] = []

    def counted(value: bytes | None, *, max_bytes: int) -> events.Judgment | events.Command:
        decoded.append(value)
        return decode(value, max_bytes=max_bytes)

    monkeypatch.setattr(decoding, "decode", counted)
    values: list[bytes | None] = [encode(each) for each in crowd_log(300)]
    values[150:150] = odd = odd_values()
    run([Record(n, b"key", value) for n, value in enumerate(values)], 5000)
    assert set(decoded) <= {*odd}


def test_one_duplicate_does_not_send_its_neighbours_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    each: list[int] = []
    apply_each = campaigns.Campaign._apply_each

    def counted(self: campaigns.Campaign, records: object, *rest: object) -> object:
        found = list(records)  # type: ignore[call-overload]
        each.append(len(found))
        return apply_each(self, found, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(campaigns.Campaign, "_apply_each", counted)
    values = [encode(each) for each in crowd_log(2000)]
    log = [Record(n, b"key", value) for n, value in enumerate((*values, values[7]))]
    processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS)
    processor.process(log[:200])
    each.clear()
    processor.process(log[200:])
    assert processor.counts() == Outcomes(read=2001, applied=2000, duplicate=1)
    assert sum(each) < campaigns.WORTH_DIVIDING


def test_scanned_answers_end_their_match_requests() -> None:
    store = MemoryStore()
    processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS)
    outputs = processor.process([Record(n, b"key", encode(each)) for n, each in enumerate(crowd_log(100))])
    sent = [
        msgspec.json.decode(output.value, type=MatchRequest)
        for output in outputs
        if output.topic == topics.MATCH_REQUESTS.name
    ]
    answers = [msgspec.structs.replace(each, id=f"later-{each.id}") for each in crowd_log(100, seed=1)]
    answers[50] = msgspec.structs.replace(answers[50], request=sent[0].id)
    processor.process([Record(100 + n, b"key", encode(each)) for n, each in enumerate(answers)])
    outstanding = processor.campaigns["campaign-0"].outstanding
    assert sent[0].id not in outstanding
    assert sent[1].id in outstanding


def test_names_without_end_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.wire.scanner.scanner._MAX_NAMES", 50)
    scanner = Scanner()
    found: list[JudgmentColumns] = []
    for part in range(5):
        values = [encode(judgment(n, segment=f"segment {n}")) for n in range(40 * part, 40 * part + 40)]
        columns = scanner.scan_records(values, max_bytes=1000)
        assert columns is not None
        found.append(columns)
    assert max(len(columns.names) for columns in found) < 150
    assert [columns.names[columns.segments[0]] for columns in found] == [f"segment {40 * part}" for part in range(5)]


def test_a_campaign_with_few_records_is_decoded() -> None:
    assert decoding.FEWEST_SCANNED > 2
    store, counts, _ = run([Record(n, b"key", encode(each)) for n, each in enumerate(crowd_log(90, campaigns=45))], 90)
    assert counts == Outcomes(read=90, applied=90)
    assert len(store.list_campaigns([PARTITION])) == 45
