"""`judgestream rejected` without a server: what is chosen, sent again and shown, and clear words for wrong use."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from streams.cli.commands import rejected
from streams.cli.option_types import Moment
from streams.cli.rejections import RejectedRecord
from streams.kafka import publishing, reading
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import Rejection, encode
from streams.wire.reasons import Reason
from tests.builders import NOON, judgment

DOCS = Path("docs/campaigns.md")
Outgoing = tuple[topics.Topic, bytes | None, bytes]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(rejected.command, arguments)


def rejection(
    offset: int, original: bytes, *, reason: Reason = "unknown_system", topic: str = "judgments.v1"
) -> Rejection:
    return Rejection(
        id=f"{topic}/0/{offset}",
        reason=reason,
        field="systems",
        message="no system 'x'",
        original=original,
        topic=topic,
        partition=0,
        offset=offset,
    )


class Records(list[reading.TopicRecord]):
    @property
    def total(self) -> int:
        return len(self)


class Log:
    """What `rejected.v1` holds, a record an hour, and what was published."""

    def __init__(self, entries: Sequence[tuple[bytes | None, bytes]], *, apart: timedelta = timedelta(hours=1)) -> None:
        self.published: list[Outgoing] = []
        self._records = [
            reading.TopicRecord(topics.REJECTED.name, 0, offset, NOON + offset * apart, key, value)
            for offset, (key, value) in enumerate(entries)
        ]

    @contextmanager
    def reading(self, settings: Settings, topic: topics.Topic, *, since: datetime | None = None) -> Iterator[Records]:
        assert topic is topics.REJECTED
        yield Records(record for record in self._records if since is None or record.at >= since)

    def publish(self, settings: Settings, records: Iterable[Outgoing]) -> int:
        self.published += records
        return len(self.published)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    bad, worse = (encode(judgment(number, campaign=name)) for number, name in ((1, "one"), (2, "two")))
    log = Log(
        [
            (b"two", encode(rejection(7, worse))),
            (b"one", encode(rejection(3, bad))),
            (b"one", encode(rejection(4, b"", reason="empty"))),
            (b"one", encode(rejection(9, bad, reason="campaign_closed"))),
            (b"one", encode(rejection(3, bad))),
            (b"one", b'{"reason": "from another version \xff"}'),
            (b"one", encode(rejection(5, b"{}", topic="leaderboards.v1", reason="missing_field"))),
            (None, encode(rejection(6, b'{"action": "pause"}', topic="commands.v1", reason="missing_field"))),
        ]
    )
    monkeypatch.setattr(reading, "read_topic", log.reading)
    monkeypatch.setattr(publishing, "publish_records", log.publish)
    return log


def listed(*arguments: str) -> list[int]:
    result = run("list", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return [each["offset"] for each in json.loads(result.stdout)["rejections"]]


def test_rejections_are_listed_once_and_newest_last(log: Log) -> None:
    assert listed() == [7, 3, 4, 9, 5, 6]
    assert listed("--limit", "2") == [5, 6]


def test_rejections_of_one_moment_are_listed_in_the_order_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = [(b"c", encode(rejection(offset, b"{"))) for offset in range(20)]
    monkeypatch.setattr(reading, "read_topic", Log(batch, apart=timedelta()).reading)
    assert listed("--limit", "12") == list(range(8, 20))


def test_rejections_are_chosen_by_campaign_reason_and_time(log: Log) -> None:
    assert listed("--campaign", "two") == [7]
    assert listed("--campaign", "one") == [3, 4, 9, 5]
    assert listed("--reason", "empty", "--reason", "campaign_closed") == [4, 9]
    assert listed("--since", f"{NOON + timedelta(hours=3):%Y-%m-%dT%H:%M}") == [9, 3, 5, 6]
    assert listed("--since", "1s") == []


def test_a_record_that_can_t_be_read_is_named_and_left_out(log: Log) -> None:
    assert "rejected.v1/0/5 is skipped" in run("list").stderr


def test_the_table_shows_place_reason_and_original(log: Log) -> None:
    result = run("list", "--campaign", "two")
    heading, row = result.stdout.splitlines()
    assert heading.split() == ["at", "place", "reason", "field", "message", "original"]
    assert "judgments.v1/0/7  unknown_system  systems  no system 'x'  " in row
    assert row.endswith("…")
    footer = run("list", "--limit", "1").stderr.splitlines()[-1]
    assert footer == "the newest 1 of 6: unknown_system 2, missing_field 2, empty 1, campaign_closed 1"


@pytest.mark.parametrize(
    "original", [b"", b"[]", b"\xff", b'{"campaign": 1}', b'{"campaign": "\xff"}', b'{"x":' + b"[" * 100_000]
)
def test_the_campaign_of_a_record_that_can_t_be_read_is_its_key(original: bytes) -> None:
    assert RejectedRecord(NOON, b"c\xff", rejection(1, original)).campaign == "c\\xff"
    assert RejectedRecord(NOON, None, rejection(1, original)).campaign == ""


def test_a_misspelt_campaign_is_answered_with_the_right_one(log: Log) -> None:
    result = run("list", "--campaign", "twoo")
    assert result.exit_code == 0
    assert "did you mean 'two'?" in result.stderr


def test_a_retry_sends_each_record_once_in_the_order_of_the_log_and_to_where_it_came_from(log: Log) -> None:
    result = run("retry", "--yes")
    assert result.exit_code == 0, result.output
    bad, worse = (encode(judgment(number, campaign=name)) for number, name in ((1, "one"), (2, "two")))
    assert log.published == [
        (topics.COMMANDS, None, b'{"action": "pause"}'),
        (topics.JUDGMENTS, b"one", bad),
        (topics.JUDGMENTS, b"two", worse),
    ]
    assert "Sent 3 records again. Judgments that are already counted change nothing." in result.stdout
    assert "judgments.v1/0/4 is skipped: its original is empty" in result.stderr
    assert "leaderboards.v1/0/5 is skipped: it came from leaderboards.v1" in result.stderr


def test_a_retry_is_of_those_that_are_chosen(log: Log) -> None:
    run("retry", "--yes", "--campaign", "two")
    run("retry", "--yes", "--reason", "campaign_closed")
    run("retry", "--yes", "--id", "commands.v1/0/6")
    assert [key for _, key, _ in log.published] == [b"two", b"one", None]


def test_a_dry_run_sends_nothing(log: Log) -> None:
    result = run("retry", "--dry-run", "--campaign", "two")
    assert "Would send 1 record again: unknown_system 1." in result.stdout
    assert not log.published


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["retry"], 2, "add --yes"),
        (["retry", "--id", "commands.v1/0/99", "--yes"], 1, "no such rejection: commands.v1/0/99"),
        (["retry", "--reason", "unknown_sistem", "--yes"], 2, "did you mean 'unknown_system'?"),
        (["list", "--reason", "emty"], 2, "did you mean 'empty'?"),
        (["list", "--since", "yesterday"], 2, "'yesterday' is not a time"),
        (["list", "--limit", "0"], 2, "--limit"),
        (["lisst"], 2, "did you mean 'list'?"),
    ],
)
def test_wrong_use_is_said_and_nothing_is_sent(log: Log, arguments: list[str], code: int, words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert not log.published


def test_nothing_rejected_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "read_topic", Log([]).reading)
    assert run("list").stdout == "Nothing was rejected.\n"
    assert run("retry", "--yes").stdout == "Nothing to send again.\n"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01T12:00Z", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ("2026-05-01T12:00-05:00", datetime(2026, 5, 1, 17, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_in_its_zone_and_without_one_in_utc(
    text: str, moment: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        found = Moment().convert(text, None, None)
    time.tzset()
    assert found == moment


@pytest.mark.parametrize(("text", "ago"), [("90s", 90), ("2m", 120), ("2h", 7200), ("7d", 604_800)])
def test_a_time_may_be_so_long_ago(text: str, ago: int) -> None:
    before = datetime.now(UTC)
    found = Moment().convert(text, None, None)
    assert before <= found + timedelta(seconds=ago) <= datetime.now(UTC)


@pytest.mark.parametrize("text", ["999999d", "0001-01-01T00:00+10:00", "9999-12-31T23:00-10:00", "", "2h3"])
def test_a_time_that_no_calendar_holds_is_wrong_use(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a time"):
        Moment().convert(text, None, None)


@pytest.mark.parametrize(
    ("original", "shown"),
    [
        (b"\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\u202e\u0085".encode(), "\\u202e\\x85"),
        (b"\xff\xfe", "\\xff\\xfe"),
        (b"a\nb\r", "a\\nb\\r"),
        ("é".encode() * 100, "é" * 79 + "…"),
        (b"", "(empty)"),
    ],
)
def test_an_original_is_short_and_safe_for_a_terminal(original: bytes, shown: str) -> None:
    assert rejected.shorten_record(original) == shown


@pytest.mark.parametrize("name", rejected.command.commands)
def test_every_subcommand_has_help_with_an_example_and_stands_in_the_docs(name: str) -> None:
    output = run(name, "--help").output
    assert "Examples:" in output
    assert f"judgestream rejected {name}" in output
    assert f"judgestream rejected {name}" in DOCS.read_text()
