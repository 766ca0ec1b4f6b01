"""Logging of the services to standard error: lines of text, or one JSON object per line. Secrets are masked."""

from __future__ import annotations

import json
import logging
import math
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from streams.errors import JudgestreamError
from streams.settings import SECRETS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from streams.settings import Settings

log = logging.getLogger(__name__)

# These libraries log every step. The steps that matter have log lines of our own.
LIBRARIES = ("aiohttp", "aiokafka", "faust", "mode")
# The debug lines of these libraries contain whole records, with the ids of judges.
LOGGING_RECORDS = ("aiokafka.producer",)
# A shorter secret could be a part of an ordinary word.
SHORTEST_SECRET = 6
# The attributes of every log record. All others are fields that were passed as `extra`.
_STANDARD_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


@contextmanager
def reporting(settings: Settings) -> Iterator[None]:
    """Configure logging for a service. With JSON logs, log the error that ends it and exit with code 1."""
    configure(settings)
    try:
        yield
    except JudgestreamError as error:
        if settings.log_format == "text":
            raise
        log.critical("%s", error, extra={"error": type(error).__name__})
        raise SystemExit(1) from None


def configure(settings: Settings) -> None:
    """Configure the logging of this process."""
    handler = logging.StreamHandler(sys.stderr)
    structured = settings.log_format == "json"
    handler.setFormatter(_JsonLines(settings) if structured else _TextLines(settings))
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(settings.log_level)
    for library in LIBRARIES:
        logging.getLogger(library).setLevel(settings.log_level if settings.log_level == "DEBUG" else "WARNING")
    for library in LOGGING_RECORDS:
        logging.getLogger(library).setLevel(max(logging.getLevelName(settings.log_level), logging.INFO))
    logging.captureWarnings(structured)
    sys.excepthook = _log_uncaught if structured else sys.__excepthook__


@contextmanager
def muted(library: str) -> Iterator[None]:
    """Mute a library while an error of our own will report the same."""
    logger = logging.getLogger(library)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


class _TextLines(logging.Formatter):
    """A line of text, followed by the traceback if there is one."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("[%(asctime)s] [%(process)d] [%(levelname)s] %(message)s")
        self._secrets = tuple(secrets(settings))

    def format(self, record: logging.LogRecord) -> str:
        return _masked(super().format(record), self._secrets)


class _JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, the fields of `extra`, and the exception if any."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._secrets = tuple(secrets(settings))

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage().strip(),
        }
        line |= {name: value for name, value in record.__dict__.items() if name not in _STANDARD_FIELDS}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        text = json.dumps({name: self._encodable(value) for name, value in line.items()}, ensure_ascii=False)
        return text.encode(errors="backslashreplace").decode()  # a lone surrogate is valid in JSON, but not in UTF-8

    def _encodable(self, value: object) -> object:
        """Return the value in a form that JSON can hold, with secrets masked, so that no line is lost."""
        if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        return _masked(str(value), self._secrets)


def secrets(settings: Settings) -> Iterator[str]:
    """Yield the words to mask: secret settings, each secret of a list of `name:secret`, and the password of Redis."""
    password = urlsplit(settings.redis).password or ""
    values = [str(getattr(settings, name)) for name in sorted(SECRETS)]
    named = [part.partition(":")[2].strip() for value in values for part in value.split(",")]
    for word in dict.fromkeys((*values, *named, password, unquote(password))):
        if len(word) >= SHORTEST_SECRET:
            yield word


def _masked(text: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    log.critical("stopped by an unexpected error", exc_info=(kind, error, trace))
