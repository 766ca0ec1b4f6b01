"""A log in which judges changed verdicts is ranked without the earlier ones, by every model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.errors import FormatError
from streams.offline.ranking import rank
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log

if TYPE_CHECKING:
    from pathlib import Path


def logs() -> tuple[list[Judgment], list[Judgment]]:
    """Return a log with changed verdicts, and the one that is left."""
    log = crowd_log(300, seed=2)
    changed = [
        msgspec.structs.replace(log[place], id=f"new-{place}", replaces=log[place].id, ranks=(2, 1))
        for place in range(0, 100, 9)
    ]
    gone = {each.replaces for each in changed}
    left = [msgspec.structs.replace(each, replaces=None) for each in (*log, *changed) if each.id not in gone]
    return [*log, *changed], left


@pytest.mark.parametrize("model", ["trueskill", "bradley-terry", "crowd-bt"])
def test_every_model_ranks_what_is_left(tmp_path: Path, model: str) -> None:
    log, left = logs()
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    expected = rank(left, model=model).reports[0].leaderboard
    for source in (log, file):
        found = rank(source, model=model).reports[0].leaderboard
        assert (found.rows, found.judgments) == (expected.rows, expected.judgments)


def test_judgments_that_can_be_read_only_once_are_refused_if_one_was_changed() -> None:
    with pytest.raises(FormatError, match="pass them as a list"):
        rank(iter(logs()[0]))
