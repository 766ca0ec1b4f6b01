"""Rules for every format. New formats are taken from the registry."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path

import pytest
from backports import zstd

from streams import formats
from streams.errors import FormatError, ParameterError
from streams.formats import FORMATS, RowError
from streams.formats.input.head import FileHead
from streams.wire.decoding import decode
from streams.wire.events import encode
from tests.formats.arena_samples import ARENA_SAMPLES
from tests.formats.platform_samples import PLATFORM_SAMPLES
from tests.formats.samples import ARENA, JSONL, SAMPLES, parquet

STREAMED = [name for name in FORMATS if name != "parquet"]


@pytest.fixture(params=FORMATS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(name: str, tmp_path: Path) -> Path:
    file = tmp_path / "log"
    file.write_bytes(SAMPLES[name].data)
    return file


def test_it_is_recognised_by_its_content_and_by_no_other_format(name: str, file: Path) -> None:
    assert formats.recognise(SAMPLES[name].data).name == name
    assert [known for known, found in FORMATS.items() if found.recognises(FileHead(SAMPLES[name].data))] == [name]
    reading = formats.read(file)
    list(reading)
    assert reading.format is FORMATS[name]


def test_every_row_is_accounted_for(name: str, file: Path) -> None:
    sample = SAMPLES[name]
    reading = formats.read(file)
    entries = list(reading)
    summary = reading.summary
    assert (summary.rows, summary.judgments, summary.left_out.total()) == (
        sample.rows,
        sample.judgments,
        sample.left_out,
    )
    assert len(entries) == sample.judgments
    assert summary.rows == summary.judged + summary.skipped.total() + summary.left_out.total()
    assert 1 <= entries[0].line <= sample.data.count(b"\n") + 1


def test_every_judgment_is_one_that_the_wire_accepts(name: str, file: Path) -> None:
    for _, judgment in formats.read(file):
        assert decode(encode(judgment), max_bytes=10**6) == judgment


def test_the_same_file_gives_the_same_ids_and_each_once(name: str, file: Path) -> None:
    first, second = ([entry.judgment for entry in formats.read(file)] for _ in range(2))
    assert first == second
    assert len({judgment.id for judgment in first}) == len(first)


def test_the_campaign_can_be_named(name: str, file: Path) -> None:
    named = {entry.judgment.campaign.partition(".")[0] for entry in formats.read(file, campaign="mine")}
    assert named == {"mine"}


def test_batches_and_entries_are_the_same(name: str, file: Path) -> None:
    batched = [
        pair for batch in formats.read(file).batches() for pair in zip(batch.lines, batch.judgments, strict=True)
    ]
    assert batched == list(formats.read(file))


@pytest.mark.parametrize("name", STREAMED, indirect=True)
@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_it_may_be_compressed_whatever_its_name(name: str, file: Path, pack: object) -> None:
    plain = list(formats.read(file))
    packed = pack(SAMPLES[name].data)  # type: ignore[operator]
    file.write_bytes(packed)
    assert list(formats.read(file)) == plain
    file.write_bytes(packed[:-9])
    with pytest.raises(FormatError, match="log: can't be read"):
        list(formats.read(file))


@pytest.mark.parametrize("name", STREAMED, indirect=True)
def test_a_stream_gives_what_the_file_gives(name: str, file: Path) -> None:
    stream = BytesIO(SAMPLES[name].data)
    assert list(formats.read(stream, campaign="c")) == list(formats.read(file, campaign="c"))


@pytest.mark.parametrize("name", STREAMED, indirect=True)
def test_a_byte_order_mark_is_ignored(name: str, file: Path) -> None:
    plain = list(formats.read(file))
    file.write_bytes(b"\xef\xbb\xbf" + SAMPLES[name].data)
    assert list(formats.read(file)) == plain


OWN_ROWS: list[dict[str, object]] = [
    {"id": "1", "campaign": "c:d", "segment": "s", "judge": "", "systems": ["a", "b"], "ranks": [1, 2]}
]
NAMELESS = {
    "wmt-rankings": SAMPLES["wmt-rankings"].data.replace(b"judge1", b""),
    "wmt-pairs": SAMPLES["wmt-pairs"].data.replace(b"judge1", b""),
    "appraise": SAMPLES["appraise"].data.replace(b"judge1", b""),
    "uniform": SAMPLES["uniform"].data.replace(b"judge1", b""),
    "arena": ARENA.replace(b"j1", b""),
    "label-studio": SAMPLES["label-studio"].data.replace(b'"completed_by": 7', b'"completed_by": ""'),
    "jsonl": JSONL.replace(b'"judge":"j"', b'"judge":""', 1),
    "parquet": parquet(OWN_ROWS),
}


@pytest.mark.parametrize("name", NAMELESS)
def test_an_empty_judge_is_anonymous_and_counted(name: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(NAMELESS[name])
    reading = formats.read(tmp_path / "log")
    assert next(iter(reading)).judgment.judge == "anonymous"
    reading = formats.read(tmp_path / "log")
    anonymous = sum(entry.judgment.judge == "anonymous" for entry in reading)
    assert reading.summary.anonymous == anonymous > 0


@pytest.mark.parametrize(
    "data",
    [
        SAMPLES["uniform"].data.replace(b"wmt15,", b"wmt:15,"),
        JSONL.replace(b'"campaign":"c"', b'"campaign":"wmt:15"'),
        parquet([{**OWN_ROWS[0], "campaign": "wmt:15"}]),
    ],
    ids=["uniform", "jsonl", "parquet"],
)
def test_other_characters_in_a_campaign_name_become_a_hyphen(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(data)
    assert {entry.judgment.campaign.partition(".")[0] for entry in formats.read(tmp_path / "log")} == {"wmt-15"}


BROKEN = {
    "wmt-rankings": (b"judge1,", b"judge1,,,", 2, None, "length_mismatch"),
    "wmt-pairs": (b"a.fr-en,1", b"a.fr-en,x", 2, "ranks", "invalid_value"),
    "appraise": (b'user="judge1"', b"", 5, "user", "missing_field"),
    "uniform": (b"2|1|3", b"2|1", 2, "ranks", "length_mismatch"),
    "arena": (b"model_a,j1", b"model_c,j1", 2, "winner", "invalid_value"),
    "label-studio": (b'"selected": "right"', b'"selected": "up"', 2, "result", "invalid_value"),
    "jsonl": (b'"ranks":[1,2]', b'"ranks":[1,0]', 1, "ranks[1]", "invalid_value"),
    "parquet": (b"model_b", b"model_x", 1, "winner", "invalid_value"),
    **{name: sample.broken for name, sample in (ARENA_SAMPLES | PLATFORM_SAMPLES).items()},
    "appraise-scores": (b"deu,80", b"deu,good", 1, "score", "invalid_value"),
    "wmt-assessment": (b"\t0.5\t", b"\thalf\t", 2, "score", "invalid_value"),
    "mqm": (b"Major", b"Huge", 2, "severity", "invalid_value"),
    "wmt-humeval": (b'"80"', b'"good"', 1, "score", "invalid_value"),
    "pearmut": (b'"score":70', b'"score":"good"', 1, "score", "invalid_value"),
    "mt-metrics-eval": (b"-0.1", b"low", 4, "score", "invalid_value"),
}


@pytest.fixture
def broken(name: str, file: Path) -> Path:
    old, new, *_ = BROKEN[name]
    data = SAMPLES[name].data
    if name == "parquet":
        file.write_bytes(parquet([{"model_a": "a", "model_b": "b", "winner": w} for w in ("model_x", "tie")]))
    else:
        assert old in data
        file.write_bytes(data.replace(old, new, 1))
    return file


def test_a_bad_row_is_named_with_file_line_field_and_reason(name: str, broken: Path) -> None:
    *_, line, field, reason = BROKEN[name]
    with pytest.raises(RowError) as caught:
        list(formats.read(broken))
    error = caught.value
    assert (error.file, error.line, error.field, error.reason) == (str(broken), line, field, reason)
    assert str(error).startswith(f"{broken}:{line}: {field or ''}")


def test_a_bad_row_can_be_skipped_or_reported_and_is_counted(name: str, broken: Path) -> None:
    reason = BROKEN[name][-1]
    skipping = formats.read(broken, on_error="skip")
    entries = list(skipping)
    assert skipping.summary.skipped == {reason: 1}
    assert skipping.summary.rows == skipping.summary.judged + 1 + skipping.summary.left_out.total()
    errors: list[RowError] = []
    assert list(formats.read(broken, on_error=errors.append)) == entries
    assert [error.reason for error in errors] == [reason]


@pytest.mark.parametrize(
    "data",
    [
        JSONL + JSONL.replace(b"2024", b"last year", 1),
        ARENA.replace(b"tie (bothbad)", b"nobody"),
        ARENA.replace(b"llama", b"l" * 300),
    ],
)
def test_rows_before_a_bad_row_are_read_first(data: bytes) -> None:
    reading = iter(formats.read(BytesIO(data), campaign="c"))
    assert next(reading).judgment.systems[0] in ("a", "gpt")
    with pytest.raises(RowError):
        list(reading)


def test_a_format_that_does_not_exist_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(ParameterError, match="did you mean 'appraise'"):
        formats.read("x", format="apraise")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"  \n", "the file is empty"),
        ("Modèle A,Modèle B,Préférence\n".encode("latin-1"), "not UTF-8; choose its encoding with --encoding"),
        (b"hello world\n", "unknown format; the file begins with 'h', and its first line has no separators"),
        ("a,b\n".encode("utf-16"), "its first line has 1 commas"),
        (b"{}", "unknown format"),
        (b"[]", "unknown format"),
    ],
)
def test_a_file_of_no_known_format_is_refused_with_the_way_out(data: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        list(formats.read(BytesIO(data)))


def test_a_stream_that_names_no_campaign_needs_one() -> None:
    with pytest.raises(FormatError, match="which campaign"):
        list(formats.read(BytesIO(SAMPLES["arena"].data)))


@pytest.mark.parametrize(("what", "words"), [("missing", "can't be read"), (".", "the folder has 0 files")])
def test_a_missing_file_is_named(tmp_path: Path, what: str, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        list(formats.read(tmp_path / what))
