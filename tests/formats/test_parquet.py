"""Parquet files of battles or judgments, and the error without pyarrow."""

from __future__ import annotations

import gzip
import io
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from streams import formats
from streams.errors import FormatError
from tests.builders import judgment
from tests.formats.samples import PARQUET, parquet


def test_our_own_judgments_come_back_from_parquet(tmp_path: Path) -> None:
    log = [judgment(number) for number in range(2500)]
    (tmp_path / "log").write_bytes(parquet([msgspec.structs.asdict(found) for found in log]))
    assert [entry.judgment for entry in formats.read(tmp_path / "log")] == log


def test_times_may_be_timestamps_with_and_without_a_zone(tmp_path: Path) -> None:
    battle = {"model_a": "a", "model_b": "b", "winner": "tie"}
    noon = datetime(2024, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC)
    for at in (noon, noon.replace(tzinfo=None), noon.isoformat(), noon.timestamp()):
        (tmp_path / "log").write_bytes(parquet([battle | {"timestamp": at}]))
        ((_, found),) = formats.read(tmp_path / "log")
        assert found.at == noon


def test_other_columns_are_not_read(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "model_a": "a",
        "model_b": "b",
        "winner": "tie",
        "conversation": [{"role": "user", "content": "x"}],
    }
    (tmp_path / "log").write_bytes(parquet([row]))
    assert len(list(formats.read(tmp_path / "log"))) == 1


def test_columns_of_neither_kind_are_named(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(parquet([{"x": 1, "y": 2}]))
    with pytest.raises(FormatError, match="unknown format with the columns 'x', 'y'"):
        list(formats.read(tmp_path / "log"))


@pytest.mark.parametrize("data", [PARQUET[:-20], PARQUET[:4] + b"x" * 400, b"PAR1"])
def test_a_broken_file_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "log").write_bytes(data)
    with pytest.raises(FormatError, match="log: can't be read as Parquet"):
        list(formats.read(tmp_path / "log"))


def test_a_stream_or_an_archive_of_it_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="neither a stream nor compressed"):
        list(formats.read(io.BytesIO(PARQUET)))
    (tmp_path / "log.gz").write_bytes(gzip.compress(PARQUET))
    with pytest.raises(FormatError, match="neither a stream nor compressed"):
        list(formats.read(tmp_path / "log.gz"))


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_bytes(PARQUET)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FormatError, match=r"pip install 'judgestream\[parquet\]'"):
        list(formats.read(tmp_path / "log"))
