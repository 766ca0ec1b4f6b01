"""What a service says of itself on standard error: lines of text, or one JSON object a line; never a secret."""

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

# These libraries tell of every step they take; where one of them matters, a line of our own says so.
LIBRARIES = ("aiohttp", "aiokafka", "faust", "mode")
# Its debug lines quote records as they are, with the judges' ids in them.
SHOWING_RECORDS = ("aiokafka.producer",)
# A shorter secret would be found in ordinary words.
SHORTEST_SECRET = 6
# What every log record has; whatever else one has was given to it as a field.
_ORDINARY = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


@contextmanager
def reporting(settings: Settings) -> Iterator[None]:
    """Let a service speak in the form that the settings ask for, also of what it ends with."""
    configure(settings)
    try:
        yield
    except JudgestreamError as error:
        if settings.log_format == "text":
            raise
        log.critical("%s", error, extra={"error": type(error).__name__})
        raise SystemExit(1) from None


def configure(settings: Settings) -> None:
    """Set the process' logging up."""
    handler = logging.StreamHandler(sys.stderr)
    structured = settings.log_format == "json"
    handler.setFormatter(_JsonLines(settings) if structured else _TextLines(settings))
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(settings.log_level)
    for library in LIBRARIES:
        logging.getLogger(library).setLevel(settings.log_level if settings.log_level == "DEBUG" else "WARNING")
    for library in SHOWING_RECORDS:
        logging.getLogger(library).setLevel(max(logging.getLevelName(settings.log_level), logging.INFO))
    logging.captureWarnings(structured)
    sys.excepthook = _log_uncaught if structured else sys.__excepthook__


@contextmanager
def muted(library: str) -> Iterator[None]:
    """Keep a library from telling what an error of ours will say in a moment."""
    logger = logging.getLogger(library)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


class _TextLines(logging.Formatter):
    """A line for people, with a traceback below it where there is one."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("[%(asctime)s] [%(process)d] [%(levelname)s] %(message)s")
        self._secrets = tuple(secrets(settings))

    def format(self, record: logging.LogRecord) -> str:
        return _masked(super().format(record), self._secrets)


class _JsonLines(logging.Formatter):
    """One object a line: time, level, logger, message, the fields given as `extra`, the exception if there is one."""

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
        line |= {name: value for name, value in record.__dict__.items() if name not in _ORDINARY}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        text = json.dumps({name: self._sound(value) for name, value in line.items()}, ensure_ascii=False)
        return text.encode(errors="backslashreplace").decode()  # half a surrogate can be written in JSON, not in UTF-8

    def _sound(self, value: object) -> object:
        """Give a value that JSON has, without a secret in it: a line that can't be written would be lost."""
        if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        return _masked(str(value), self._secrets)


def secrets(settings: Settings) -> Iterator[str]:
    """Give the words that no line may hold: secret settings, the secrets of a list `name:secret`, Redis' password."""
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
    log.critical("stopped by an error that nobody expected", exc_info=(kind, error, trace))
