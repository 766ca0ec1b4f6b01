"""Small Parquet files that stand for gigabytes are read in bounded memory, or refused."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from streams import formats
from streams.errors import FormatError
from streams.formats.features import OutputFeatures
from streams.formats.input.thrift import CompactReader
from tests.formats.samples import PARQUET

pyarrow: Any = import_module("pyarrow")
tables: Any = import_module("pyarrow.parquet")

ROOT = Path(__file__).resolve().parents[2]
MB = 2**20
READ = """
import resource, sys
from streams import formats
import pyarrow.parquet
list(formats.read(sys.argv[1]))  # what is loaded once is not counted
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for file in sys.argv[2:]:
    reading = formats.read(file, on_error="skip")
    try:
        for _ in reading:
            pass
    except formats.base.FormatError as error:
        print("refused:", error)
    else:
        print("rows:", reading.summary.rows)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
BATTLE = {"model_b": "b", "winner": "tie"}


def write(file: Path, columns: dict[str, Any], **options: Any) -> Path:
    options = {"compression": "zstd", "write_statistics": False} | options
    tables.write_table(pyarrow.table(columns), file, **options)
    return file


def battles(count: int, **columns: Any) -> dict[str, Any]:
    return {name: [value] * count for name, value in BATTLE.items()} | columns


def repeated(text: str, count: int) -> Any:
    """Return a column that has one text very often."""
    places = pyarrow.array(memoryview(bytes(4 * count)).cast("i"))
    return pyarrow.DictionaryArray.from_arrays(places, pyarrow.array([text]))


def listed(count: int) -> Any:
    """Return one list of very many systems."""
    return pyarrow.ListArray.from_arrays(pyarrow.array([0, count], pyarrow.int32()), repeated("a", count))


def one_judgment(systems: Any) -> dict[str, Any]:
    return {name: ["x"] for name in ("id", "campaign", "segment", "judge")} | {"systems": systems, "ranks": [[1, 2]]}


def read_apart(folder: Path, files: list[Path]) -> tuple[list[str], int]:
    """Read files in a process of its own. Return how each one ended, and the megabytes by which it grew."""
    good = folder / "good"
    good.write_bytes(PARQUET)
    done = subprocess.run(
        [sys.executable, "-c", READ, good, *files], capture_output=True, text=True, check=True, cwd=ROOT
    )
    *ends, growth = done.stdout.splitlines()
    return ends, int(growth)


def conversations(texts: list[str]) -> dict[str, Any]:
    """Return battles with a conversation each."""
    column = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": text}] for text in texts]
    count = len(texts)
    return battles(count, model_a=["a"] * count, conversation_a=column, conversation_b=column)


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
def test_conversations_whose_dictionary_was_full_are_read_for_their_features(tmp_path: Path, compression: str) -> None:
    texts = [f"{n:05}{'x' * (n % 90)}" for n in range(3000)]
    options = {"dictionary_pagesize_limit": 10_000, "data_page_size": 2000, "write_batch_size": 100}
    file = write(tmp_path / "log.parquet", conversations(texts), compression=compression, row_group_size=700, **options)
    pages = set(tables.ParquetFile(file).metadata.row_group(0).column(4).encodings)
    assert {"PLAIN", "RLE_DICTIONARY"} <= pages
    reading = formats.read(file)
    reading.features = OutputFeatures(("length",))
    found = [reading.features.of(entry.judgment) for entry in reading]
    assert found == [[(float(len(text)),)] * 2 for text in texts]


def test_conversations_that_repeat_a_long_text_very_often_are_refused(tmp_path: Path) -> None:
    texts = ["x" * 90_000] * 500 + [f"{n}{'z' * 50}" for n in range(3000)]
    options = {"dictionary_pagesize_limit": 95_000, "data_page_size": 2000, "write_batch_size": 100}
    file = write(tmp_path / "log.parquet", conversations(texts), **options)
    assert file.stat().st_size < 200_000
    reading = formats.read(file)
    reading.features = OutputFeatures(("length",))
    with pytest.raises(FormatError, match=r"conversation_a have two encodings and may repeat [0-9,]+ bytes"):
        list(reading)
    assert len(list(formats.read(file))) == 3500  # without the texts


@pytest.mark.long
def test_a_kilobyte_that_stands_for_two_gigabytes_takes_little_memory(tmp_path: Path) -> None:
    file = write(tmp_path / "repeated", battles(1000, model_a=repeated("x" * 2_000_000, 1000)))
    assert file.stat().st_size < 1500
    ends, growth = read_apart(tmp_path, [file])
    assert ends == ["rows: 1000"]
    assert growth < 64


@pytest.mark.long
def test_small_files_that_stand_for_gigabytes_take_little_memory(tmp_path: Path) -> None:
    long, other = "x" * 2_000_000, "y" * 900_000
    files = [
        write(tmp_path / "repeated", battles(1000, model_a=repeated(long, 1000))),
        write(tmp_path / "prompt", battles(1000, model_a=["a"] * 1000, prompt=repeated(long, 1000))),
        # The dictionary is full after some values, and the others stand in plain pages.
        write(
            tmp_path / "mixed",
            battles(3000, model_a=[other] * 1000 + [f"{n}{'z' * 900}" for n in range(2000)]),
            dictionary_pagesize_limit=950_000,
            data_page_size=1000,
        ),
        write(tmp_path / "long list", one_judgment(listed(8_000_000))),
        write(tmp_path / "longer list", one_judgment(listed(9_000_000))),
        write(tmp_path / "a page", battles(1, model_a=["x" * 130 * MB]), use_dictionary=False),
        write(tmp_path / "a dictionary", battles(1, model_a=["x" * 20 * MB])),
        write(
            tmp_path / "delta",
            battles(3, model_a=[long] * 3),
            use_dictionary=False,
            column_encoding={"model_a": "DELTA_BYTE_ARRAY"},
        ),
        write(tmp_path / "rows", {name: repeated("a", 3_000_000) for name in ("model_a", "model_b", "winner")}),
    ]
    assert max(file.stat().st_size for file in files) < 100_000
    ends, growth = read_apart(tmp_path, files)
    assert [end.partition(":")[0] for end in ends] == ["rows"] * 4 + ["refused"] * 5
    words = ["9,000,000 values in a row group", "its pages need", "in the column model_a", "encoding", "3,000,000 rows"]
    for word, end in zip(words, ends[4:], strict=True):
        assert word in end
    assert growth < 256


def test_a_list_that_is_too_long_is_one_bad_row(tmp_path: Path) -> None:
    columns = {name: ["x", "y"] for name in ("id", "campaign", "segment", "judge")}
    systems = [["a"] * 200, ["a", "b"]]
    file = write(tmp_path / "log", columns | {"systems": systems, "ranks": [[1, 2], [1, 2]]})
    reading = formats.read(file, on_error="skip")
    assert [entry.judgment.systems for entry in reading] == [("a", "b")]
    assert reading.summary.skipped.total() == 1


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("use_dictionary", [True, False, ["model_a"]])
def test_every_way_to_write_the_same_values_gives_the_same_judgments(
    tmp_path: Path, version: str, use_dictionary: bool | list[str]
) -> None:
    names = [f"model {n % 7}" for n in range(5000)]
    columns = {"model_a": names, "model_b": ["other"] * 5000, "winner": ["tie", "model_a"] * 2500}
    columns["prompt"] = [f"{n} {'é' * 300}" if n % 3 else None for n in range(5000)]  # type: ignore[misc]
    file = write(
        tmp_path / "log",
        columns,
        data_page_version=version,
        use_dictionary=use_dictionary,
        dictionary_pagesize_limit=10_000,
        row_group_size=1700,
    )
    found = [entry.judgment for entry in formats.read(file, campaign="c")]
    assert [each.systems[0] for each in found] == names
    assert len({each.segment for each in found}) == len(set(columns["prompt"]))
    assert max(len(each.segment) for each in found) == 200


def test_a_footer_that_is_too_long_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"PAR1" + bytes(100) + (2**30).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(FormatError, match="log: can't be read as Parquet: its description has 1,073,741,824 bytes"):
        list(formats.read(file))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x15",
        b"\x15\xff",
        b"\x18\xff\xff\x7f",
        b"\x19\xfc\xff\xff\xff\xff\x0f",
        b"\x1c" * 1000,
        b"\x15" + b"\xff" * 100,
        b"\x1d\x00",
    ],
)
def test_a_header_that_is_not_possible_is_refused(data: bytes) -> None:
    with pytest.raises((IndexError, ValueError)):
        CompactReader(data).struct()
