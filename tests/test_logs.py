"""A service's lines: one JSON object each where that is asked for, with fields and exceptions, and no secret in any."""

from __future__ import annotations

import json
import logging
import math
import sys
import warnings
from collections.abc import Iterator
from datetime import datetime

import pytest

from streams.errors import StoreUnavailable
from streams.logs import LIBRARIES, LOGGING_RECORDS, configure, muted, reporting
from streams.settings import Settings

SECRET = Settings(judge_key="a-very-secret-key", redis="redis://user:hunter%2Ftwo@127.0.0.1:1/0", log_format="json")
log = logging.getLogger("streams.worker.source")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Restore the logging of the process after the test."""
    root = logging.root
    handlers, level, hook = root.handlers[:], root.level, sys.excepthook
    levels = {name: logging.getLogger(name).level for name in (*LIBRARIES, *LOGGING_RECORDS)}
    yield
    root.handlers[:], root.level, sys.excepthook = handlers, level, hook
    logging.captureWarnings(False)
    for name, value in levels.items():
        logging.getLogger(name).setLevel(value)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return [json.loads(line, parse_constant=pytest.fail) for line in captured.err.splitlines()]


def test_a_line_has_its_time_level_logger_message_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    configure(SECRET)
    log.warning("%s/%d is open\nat last", "judgments.v1", 3, extra={"partition": 3, "share": 0.5, "of": None})
    (line,) = lines(capsys)
    assert datetime.fromisoformat(str(line.pop("time"))).tzinfo is not None
    assert line == {
        "level": "WARNING",
        "logger": "streams.worker.source",
        "message": "judgments.v1/3 is open\nat last",
        "partition": 3,
        "share": 0.5,
        "of": None,
    }


def test_what_json_does_not_have_is_written_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    configure(SECRET)
    log.info("all sorts: \udc80 \x00 é", extra={"rate": math.nan, "lag": math.inf, "names": {"a"}})
    (line,) = lines(capsys)
    assert (line["rate"], line["lag"], line["names"]) == ("nan", "inf", "{'a'}")
    assert str(line["message"]).endswith("\x00 é")


def test_an_exception_is_part_of_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure(SECRET)
    try:
        raise ValueError("the worst\nhappened")
    except ValueError:
        log.exception("no luck")
    (line,) = lines(capsys)
    assert line["message"] == "no luck"
    assert str(line["exception"]).startswith("Traceback")
    assert str(line["exception"]).endswith("ValueError: the worst\nhappened")


def test_an_exception_that_nobody_catches_and_a_warning_are_lines_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    configure(SECRET)
    error = RuntimeError("out of the blue")
    sys.excepthook(RuntimeError, error, None)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old ways", DeprecationWarning, stacklevel=1)
    uncaught, warned = lines(capsys)
    assert uncaught["level"] == "CRITICAL"
    assert str(uncaught["exception"]).endswith("RuntimeError: out of the blue")
    assert "old ways" in str(warned["message"])


def test_what_a_service_ends_with_is_a_line_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, reporting(SECRET):
        raise StoreUnavailable("Redis is away")
    assert ended.value.code == 1
    (line,) = lines(capsys)
    assert (line["level"], line["message"], line["error"]) == ("CRITICAL", "Redis is away", "StoreUnavailable")


def test_text_is_left_to_the_command_line_to_end_with(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StoreUnavailable), reporting(Settings()):
        raise StoreUnavailable("Redis is away")
    assert capsys.readouterr().err == ""
    log.info("as people read it")
    assert capsys.readouterr().err.endswith("[INFO] as people read it\n")


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize("secret", ["a-very-secret-key", "hunter%2Ftwo", "hunter/two"])
def test_no_line_holds_a_secret(capsys: pytest.CaptureFixture[str], log_format: str, secret: str) -> None:
    settings = Settings(judge_key=SECRET.judge_key, redis=SECRET.redis, log_format=log_format)  # type: ignore[arg-type]
    configure(settings)
    try:
        raise OSError(f"can't reach {secret}")
    except OSError:
        log.exception("it said %s", secret, extra={"url": f"redis://:{secret}@db"})
    written = capsys.readouterr().err
    assert secret not in written
    assert "it said ***" in written
    assert "can't reach ***" in written


def test_no_library_quotes_records_even_when_it_is_debugged(capsys: pytest.CaptureFixture[str]) -> None:
    configure(Settings(log_level="DEBUG"))
    logging.getLogger("aiokafka.producer.producer").debug("Sending (value=%r)", b'{"judge":"alice"}')
    logging.getLogger("aiokafka.conn").debug("connected")
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_speak_up_only_when_something_is_wrong(capsys: pytest.CaptureFixture[str], library: str) -> None:
    configure(Settings())
    logging.getLogger(library).info("step by step")
    logging.getLogger(library).warning("a stumble")
    with muted(library):
        logging.getLogger(library).error("what we will say ourselves")
    assert [line.rpartition("] ")[2] for line in capsys.readouterr().err.splitlines()] == ["a stumble"]
