"""Tables of any kind are read by the names of their columns."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest

import streams
from streams import formats
from streams.errors import FormatError, ParameterError
from streams.formats import RowError
from streams.formats.mapping.column_mapping import LAYOUTS, OPTIONAL, read_mapping
from streams.wire.decoding import decode
from streams.wire.events import Judgment, encode
from tests.formats.mapped_samples import MAPPED, NAMED, MappedSample, Verdict
from tests.formats.samples import parquet

COLUMNS = "a=one,b=two,winner=best"


def verdicts(judgments: list[Judgment]) -> list[Verdict]:
    return [
        (each.systems, each.score if each.ranks is None else each.ranks, each.judge, each.segment)  # type: ignore[misc]
        for each in judgments
    ]


def read(data: bytes, columns: object = COLUMNS, values: object = (), **options: object) -> list[Judgment]:
    reading = formats.read(BytesIO(data), columns=columns, values=values, campaign="c", **options)  # type: ignore[arg-type]
    return [entry.judgment for entry in reading]


@pytest.fixture(params=MAPPED)
def sample(request: pytest.FixtureRequest) -> MappedSample:
    return MAPPED[request.param]


def test_every_layout_has_a_sample() -> None:
    assert {sample.layout for sample in MAPPED.values()} == set(LAYOUTS)


def test_a_table_says_what_it_says_by_hand(sample: MappedSample, tmp_path: Path) -> None:
    (tmp_path / "votes").write_bytes(sample.data)
    assert read_mapping(sample.columns).layout == sample.layout
    reading = formats.read(tmp_path / "votes", columns=sample.columns, values=sample.values)
    read = [entry.judgment for entry in reading]
    assert verdicts(read) == sample.verdicts
    assert {judgment.campaign for judgment in read} == {"votes"}
    summary = reading.summary
    assert (summary.judgments, summary.left_out.total()) == (len(sample.verdicts), sample.left_out)
    assert summary.rows == summary.judged + summary.left_out.total()
    assert summary.anonymous == sum(judge == "anonymous" for _, _, judge, _ in sample.verdicts)
    for judgment in read:
        assert decode(encode(judgment), max_bytes=10**6) == judgment
    assert len({judgment.id for judgment in read}) == len(read)


@pytest.mark.parametrize("sample", [each for each in MAPPED.values() if not each.data.startswith((b"PK", b"["))])
def test_the_order_of_the_columns_does_not_matter(sample: MappedSample) -> None:
    delimiter = next(each for each in (";", "\t", ",") if each in sample.data.decode().splitlines()[0])
    lines = ["".join(delimiter.join(reversed(line.split(delimiter)))) for line in sample.data.decode().splitlines()]
    found = read("\n".join(lines).encode(), sample.columns, sample.values)
    assert verdicts(found) == sample.verdicts


def test_parquet_and_a_data_frame_say_the_same(tmp_path: Path) -> None:
    rows = [
        {"one": "x", "two": "y", "best": 1, "who": "anna", "where": "s1"},
        {"one": "y", "two": "z", "best": 2, "who": "ben", "where": "s1"},
        {"one": "z", "two": "x", "best": 0, "who": None, "where": "s2"},
    ]
    (tmp_path / "votes.parquet").write_bytes(parquet(rows))
    options = {"columns": f"{COLUMNS},judge=who,segment=where", "values": "tie=0"}
    for source in (tmp_path / "votes.parquet", pd.DataFrame(rows)):
        assert verdicts(list(streams.read(source, **options))) == NAMED  # type: ignore[arg-type]
        assert streams.rank(source, **options).rows[0].system in ("x", "z")  # type: ignore[arg-type]


def test_other_fields_of_a_judgment_have_roles_too() -> None:
    (judgment,) = read(
        b"one,two,best,n,when,took,kind\nx,y,1,id7,2024-05-01,12.5,crowd\n",
        f"{COLUMNS},id=n,at=when,duration=took,source=kind",
    )
    assert (judgment.id, judgment.at.isoformat()) == ("id7", "2024-05-01T00:00:00+00:00")
    assert (judgment.duration_ms, judgment.source) == (12_500, "crowd")


def test_a_campaign_may_be_a_column_and_its_other_characters_are_replaced() -> None:
    data = b"one,two,best,task\nx,y,1,wmt:15\nx,y,2,b\n"
    reading = formats.read(BytesIO(data), columns=f"{COLUMNS},campaign=task")
    assert [entry.judgment.campaign for entry in reading] == ["wmt-15", "b"]


def test_a_mapping_is_kept_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mapping.toml"
    file.write_text(
        '[columns]\na = "one"\nb = "two"\nwinner = "best, of all"\n[values]\ntie = ["=", "none"]\na = "l"\nb="r"\n'
    )
    found = read(b'one,two,"best, of all"\nx,y,l\nx,y,none\nx,y,=\n', f"@{file}")
    assert [judgment.ranks for judgment in found] == [(1, 2), (1, 1), (1, 1)]
    mapping = read_mapping([f"@{file}"])
    assert mapping.options()[1] == 'a=one,b=two,"winner=best, of all"'
    assert read_mapping(mapping.options()[1], mapping.options()[3]) == mapping


def test_a_dictionary_is_a_mapping_too() -> None:
    found = read(
        b"one,two,best\nx,y,l\nx,y,r\n", {"a": "one", "b": "two", "winner": "best"}, {"a": "l", "b": ["r", "R"]}
    )
    assert [judgment.ranks for judgment in found] == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("columns", "values", "words"),
    [
        ("a=x", "", "a is not enough; write a=COLUMN,b=COLUMN,winner=COLUMN"),
        ("a=x,b=y,winnr=z", "", "no role 'winnr'; did you mean 'winner'"),
        ("a=x,a=y,b=y,winner=z", "", "a is given twice"),
        ("a=x,b=y,winner=z,score=s", "", "score does not go with a, b, winner"),
        ("system=x,score=y,tie=z", "", "tie does not go with score"),
        ("a=x,b=y,winner", "", "'winner' has no '='"),
        ('a="x', "", "can't be read|no '='|not enough"),
        (COLUMNS, "left=a", "no meaning 'left'; use a, b, tie, skip"),
        (COLUMNS, "a=0,b=0", "'0' has two meanings"),
        ("@missing.toml", "", "can't be read as TOML"),
    ],
)
def test_a_wrong_mapping_is_refused_before_anything_is_read(columns: str, values: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        formats.read("not there", columns=columns, values=values)


def test_a_mapping_excludes_a_format_and_values_need_columns() -> None:
    with pytest.raises(ParameterError, match="not both"):
        formats.read("x", columns=COLUMNS, format="arena")
    with pytest.raises(ParameterError, match="values need columns"):
        formats.read("x", values="a=1")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"one,two,bst\nx,y,1\n", "-:1: no column 'best'; did you mean 'bst'"),
        (b'{"one":"x","two":"y","bst":"x"}\n', "-:1: best: the cell is empty"),
        (b"one,two,best\nx,y,0\n", "-:2: best: '0' is neither a verdict nor one of the systems; use --values"),
        (b"one,two,best\nB,A,A\n", "-:2: best: 'A' is the name of a system and also means the other one"),
        (b"one,two,best\nx,x,1\n", "-:2: systems: the system 'x' is listed twice"),
        (b"one,two,best\nx,,1\n", "-:2: two: the cell is empty"),
        (b"one,two,best\nx,y\n", "-:2: 2 cells, but the header has 3"),
        (b'{"one":["x"],"two":"y","best":"x"}\n', "-:1: one: .* is not a text or a number"),
        (b"one,two,best\nx," + b"y" * 300 + b",1\n", "-:2: systems: 300 characters"),
        (b"one,two,best\n\xe4,y,1\n", "-:2: not UTF-8.*--encoding"),
        (b"one,two,b\xe4st\nx,y,1\n", "-:1: the header is not UTF-8.*--encoding"),
    ],
)
def test_a_bad_table_is_named_with_the_way_out(data: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read(data)


def test_a_key_that_no_object_has_is_an_error_and_not_silence() -> None:
    with pytest.raises(FormatError, match="no object has the key 'rater'; did you mean 'raters'"):
        read(b'{"one":"x","two":"y","best":"x","raters":"j"}\n', f"{COLUMNS},judge=rater")


def test_the_id_of_a_judge_is_not_in_an_error() -> None:
    with pytest.raises(RowError) as caught:
        read(b'{"one":"x","two":"y","best":"x","who":["secret"]}\n', f"{COLUMNS},judge=who")
    assert "secret" not in str(caught.value)


def test_given_values_replace_the_built_in_ones() -> None:
    with pytest.raises(FormatError, match="'2' is neither"):
        read(b"one,two,best\nx,y,0\nx,y,2\n", COLUMNS, "a=0,b=1")


def test_the_docs_list_every_role_and_layout() -> None:
    page = Path("docs/formats.md").read_text(encoding="utf-8")
    for roles in LAYOUTS.values():
        assert f"`{','.join(roles)}`" in page
    assert all(f"`{role}`" in page for role in OPTIONAL)


def test_both_bad_is_kept_apart_from_a_tie() -> None:
    table = b"one,two,best\nx,y,both bad\nx,y,tie\n"
    reading = formats.read(BytesIO(table), campaign="c", columns="a=one,b=two,winner=best")
    found = [judgment for batch in reading.batches() for judgment in batch.judgments]
    assert [(each.ranks, each.tags) for each in found] == [((1, 1), {"outcome": "both_bad"}), ((1, 1), None)]
