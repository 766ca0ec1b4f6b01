from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from deploy import state
from deploy.errors import StateError
from deploy.processes import Process
from deploy.state import ServerRecord

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = {
    "kafka": ServerRecord(port=20_001, process=Process(42, "noon")),
    "redis": ServerRecord(port=20_002, password="hunter2"),
}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    state.write(tmp_path / "state.json", RECORDS)
    assert state.read(tmp_path / "state.json") == RECORDS


def test_there_are_no_records_before_the_first_start(tmp_path: Path) -> None:
    assert state.read(tmp_path / "state.json") == {}


def test_only_the_owner_reads_the_records(tmp_path: Path) -> None:
    (tmp_path / "state.json").touch(mode=0o644)
    state.write(tmp_path / "state.json", RECORDS)
    assert stat.S_IMODE((tmp_path / "state.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"kafka": 3}', '{"kafka": {"port": 1}}', "\xff"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "state.json").write_text(damage, encoding="latin-1")
    with pytest.raises(StateError, match=r"state\.json is damaged"):
        state.read(tmp_path / "state.json")
