"""A window of a log: which judgments are between two bounds, and errors for bounds that can't be read."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import streams
from streams import formats
from streams.errors import ParameterError
from streams.formats.window import LogWindow
from streams.wire.events import encode
from tests.builders import crowd_log, judgment

if TYPE_CHECKING:
    from streams.formats.window import Bound

MIDNIGHT = datetime(2026, 5, 2, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
# One judgment on each side of each bound that the tests use.
TIMES = [
    datetime(2026, 5, 1, tzinfo=UTC),
    datetime(2026, 5, 1, 12, tzinfo=UTC),
    datetime(2026, 5, 1, 12, tzinfo=UTC) + MICROSECOND,
    MIDNIGHT - MICROSECOND,
    MIDNIGHT,
]
LOG = [judgment(number, at=at) for number, at in enumerate(TIMES)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(encode(each) + b"\n" for each in LOG))
    return path


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, "2026-05-01", [0, 1, 2, 3]),  # a date is its end in UTC
        (None, date(2026, 5, 1), [0, 1, 2, 3]),
        ("2026-05-02", None, [4]),  # a date is its beginning
        ("2026-05-01", "2026-05-01", [0, 1, 2, 3]),
        (None, "2026-05-01T12:00", [0, 1]),  # both ends are included, and without a zone it is UTC
        (None, "2026-05-01T14:00+02:00", [0, 1]),
        (None, datetime(2026, 5, 1, 12), [0, 1]),
        ("2026-05-01T12:00Z", None, [1, 2, 3, 4]),
        (datetime(2026, 5, 1, 14, tzinfo=timezone(timedelta(hours=2))), "2026-05-02T00:00Z", [1, 2, 3, 4]),
        (None, "2", [0, 1]),  # the first judgments of the log
        (None, 2, [0, 1]),
        (2, None, [2, 3, 4]),  # all but the first
        (1, "2026-05-01T12:00Z", [1]),
        (None, 99, [0, 1, 2, 3, 4]),
    ],
)
def test_the_judgments_between_the_bounds_are_read(
    file: Path, since: Bound | None, until: Bound | None, expected: list[int]
) -> None:
    reading = formats.read(file, since=since, until=until)
    assert [entry.judgment for entry in reading] == [LOG[number] for number in expected]
    assert reading.selection is not None
    assert (reading.selection.kept, reading.selection.read) == (len(expected), len(LOG))


def test_a_number_counts_the_judgments_before_other_choices(file: Path) -> None:
    only = {"judge": "judge"}
    assert len(list(formats.read(file, only=only, since=1, until=3))) == 2
    others = [judgment(9, judge="other"), *LOG]
    assert streams.rank(others, only=only, until=3).read == 2


@pytest.mark.parametrize(
    ("since", "until", "said"),
    [
        (None, "yesterday", "until: 'yesterday' is not a date, a time or a whole number"),
        ("2026-13-01", None, "since: '2026-13-01' is not a date"),
        (None, "", "until: '' is not a date"),
        (None, "-1", "until: '-1' is not a date"),
        (None, -1, "until: -1 is negative"),
        (None, "0", "until: 0 judgments are none"),
        (None, True, "until: 'True' is not a date"),
        (None, "9" * 5000, "is not a date"),
        (None, "0001-01-01T00:00+14:00", "is not a date"),
        ("2026-05-02", "2026-05-01", "since: '2026-05-02' is not before until, which is '2026-05-01'"),
        (3, 3, "since: '3' is not before until"),
    ],
)
def test_a_bound_that_can_t_be_read_is_an_error(since: Bound | None, until: Bound | None, said: str) -> None:
    with pytest.raises(ParameterError) as caught:
        LogWindow.of(since, until)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_window_without_judgments_is_an_error_with_the_times_of_the_log(file: Path) -> None:
    with pytest.raises(ParameterError, match=r"until: none of 5 .* from 2026-05-01 00:00:00.* to 2026-05-02 00:00:00"):
        list(formats.read(file, until="2026-04-30"))


def test_rows_without_a_time_are_in_no_window_of_time(tmp_path: Path) -> None:
    file = tmp_path / "arena.csv"
    rows = ["a,b,model_a,", "a,b,model_b,2026-05-01T10:00:00Z"]
    file.write_text("\n".join(["model_a,model_b,winner,tstamp", *rows, ""]))
    reading = formats.read(file, until="2026-05-01")
    assert len(list(reading)) == 1
    assert reading.selection is not None
    assert reading.selection.untimed == 1
    file.write_text("\n".join(["model_a,model_b,winner", "a,b,model_a", ""]))
    with pytest.raises(ParameterError, match="no judgment of the log has a time; give a whole number"):
        list(formats.read(file, until="2026-05-01"))
    assert len(list(formats.read(file, until=1))) == 1


def test_a_ranking_up_to_a_time_is_the_ranking_of_that_part() -> None:
    log = crowd_log(300)
    half = streams.rank(log, until=log[149].at)
    assert half.leaderboards == streams.rank(log[:150]).leaderboards
    assert (half.read, half.left_out) == (150, 150)
    assert half.leaderboards == streams.rank(log, until=150).leaderboards
    assert streams.rank(log, since=150).rows == streams.rank(log[150:]).rows


def test_the_judges_are_tested_in_the_window_too() -> None:
    log = crowd_log(300)
    found = streams.rank(log, until=150, controls="everybody")
    assert (found.left_out, found.leaderboards) == (150, streams.rank(log[:150]).leaderboards)
    assert found.controls == streams.rank(log[:150], controls="everybody").controls
