"""The settings: one frozen object from flags, environment, a TOML file and defaults, in that order."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_type_hints
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Meta, Struct

from streams.errors import SettingError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "JUDGESTREAM_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
DEFAULT_FILE = "judgestream.toml"
# Variables that start like settings: the file of settings, the tests' data, the password in docker-compose.yml.
NEIGHBOURS = frozenset({"config", "data", "redis_password"})


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set, with its default.

    >>> Settings(partitions=3).partitions
    3
    """

    kafka: Annotated[str, Meta(min_length=1, description="Bootstrap servers, host:port, comma-separated.")] = (
        "127.0.0.1:9092"
    )
    redis: Annotated[
        str,
        Meta(pattern=r"^(redis|rediss|unix)://", description="URL of Redis, with its password."),
    ] = "redis://127.0.0.1:6379/0"
    namespace: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9_-]*$", max_length=60, description="Prefix of topics, consumer groups and Redis keys."
        ),
    ] = ""
    judge_key: Annotated[str, Meta(description="Secret that turns judges' ids into pseudonyms.")] = ""
    partitions: Annotated[int, Meta(ge=1, le=10_000, description="Partitions of a topic that `topics` creates.")] = 12
    replication: Annotated[int, Meta(ge=1, le=100, description="Replicas of a topic that `topics` creates.")] = 1
    batch_records: Annotated[int, Meta(ge=1, le=20_000, description="Most records in one batch.")] = 2000
    batch_seconds: Annotated[float, Meta(gt=0, le=60, description="How often a quiet log is looked at.")] = 0.05
    snapshot_seconds: Annotated[float, Meta(gt=0, description="Time between leaderboards of a changing campaign.")] = (
        5.0
    )
    snapshot_judgments: Annotated[
        int,
        Meta(ge=0, description="Judgments after which a leaderboard goes out too; 0: by time only."),
    ] = 0
    session_timeout_seconds: Annotated[
        float, Meta(ge=6, le=1800, description="Silence after which a worker's partitions move to another.")
    ] = 20.0
    max_record_bytes: Annotated[int, Meta(ge=1000, le=8_000_000, description="A longer record is rejected.")] = (
        1_000_000
    )
    seen_ids: Annotated[
        int, Meta(ge=1, description="A repeat is known among so many last judgments of its campaign.")
    ] = 100_000
    unknown_campaign: Annotated[
        Literal["create", "reject"],
        Meta(description="What the first judgment of an unknown campaign does: create or reject."),
    ] = "create"
    max_rejected_in_a_row: Annotated[
        int, Meta(ge=0, description="More bad records in a row stop the worker; 0: no limit.")
    ] = 1000
    max_rejected_share: Annotated[
        float, Meta(gt=0, le=1, description="A larger share of bad records stops the worker; 1: no limit.")
    ] = 0.5
    rejected_window: Annotated[int, Meta(ge=1, description="So many last records make up that share.")] = 5000
    seed: Annotated[int, Meta(ge=0, description="Of everything that is drawn at random.")] = 1
    health_host: Annotated[str, Meta(min_length=1, description="Where a worker answers /healthz and /readyz.")] = (
        "127.0.0.1"
    )
    health_port: Annotated[int, Meta(ge=0, le=65535, description="Its port there; 0: none.")] = 0
    monitor_host: Annotated[str, Meta(min_length=1, description="Where the monitor listens.")] = "127.0.0.1"
    monitor_port: Annotated[int, Meta(ge=0, le=65535, description="Its port there; 0: a free one.")] = 8080
    monitor_tokens: Annotated[
        str, Meta(description="Who may write through the monitor: name:secret, comma-separated; secrets of 16 or more.")
    ] = ""
    monitor_reads: Annotated[
        Literal["open", "closed"], Meta(description="open, or closed: a token is needed to read as well.")
    ] = "open"
    monitor_origins: Annotated[
        str, Meta(description="Web pages of other origins that may ask the monitor, comma-separated; none by default.")
    ] = ""
    monitor_body_bytes: Annotated[
        int, Meta(ge=1000, le=64_000_000, description="A longer request to the monitor is refused.")
    ] = 1_000_000
    monitor_rate: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Requests a second of one token, or of one address without.")
    ] = 1000
    monitor_lease_seconds: Annotated[
        float, Meta(ge=1, le=86_400, description="How long a judge has the match that the monitor gave out.")
    ] = 600.0
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], Meta(description="DEBUG, INFO, WARNING or ERROR.")
    ] = "INFO"
    log_format: Annotated[
        Literal["text", "json"], Meta(description="text, or json: one object a line, of a worker and a monitor.")
    ] = "text"

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={shown(self, name)!r}' for name in self.__struct_fields__)})"


SECRETS = frozenset({"judge_key", "monitor_tokens"})


def load(
    flags: Mapping[str, object] | None = None,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings; an unknown or malformed one is an error that names it and where it stands."""
    environment = os.environ if environment is None else environment
    if file is None and CONFIG_VARIABLE in environment:
        file = Path(environment[CONFIG_VARIABLE])
        if not file.is_file():
            raise SettingError(f"{CONFIG_VARIABLE}: there is no file {file}")
    if file is None and Path(DEFAULT_FILE).is_file():
        file = Path(DEFAULT_FILE)
    merged: dict[str, object] = {}
    for place, values in (
        (str(file), _from_file(file) if file else {}),
        ("environment", _from_environment(environment)),
        ("flag", {name: value for name, value in (flags or {}).items() if value is not None}),
    ):
        for name, value in values.items():
            merged[name] = _checked(name, value, place)
    return Settings(**merged)  # type: ignore[arg-type]  # each value was checked against its field


def shown(settings: Settings, name: str) -> str:
    """Give a setting's value for people: secrets are masked.

    >>> shown(Settings(redis="redis://:hunter2@db:6379/0"), "redis")
    'redis://:***@db:6379/0'
    """
    value = str(getattr(settings, name))
    if name in SECRETS:
        return "***" if value else "(not set)"
    return masked(value)


def masked(text: str) -> str:
    """Mask the password of a URL."""
    parts = urlsplit(text) if "://" in text else None
    if parts is None or parts.password is None:
        return text
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{host}"))


def _from_file(file: Path) -> dict[str, object]:
    try:
        with file.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise SettingError(f"{file}: can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{file}: not TOML: {error}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    known = {*Settings.__struct_fields__, *NEIGHBOURS}
    found = {name.removeprefix(PREFIX).lower(): value for name, value in environment.items() if name.startswith(PREFIX)}
    for name in sorted(found.keys() - known):
        variables = [PREFIX + field.upper() for field in known]
        raise SettingError(
            f"environment: no setting {PREFIX}{name.upper()}; {suggestion(PREFIX + name.upper(), variables)}"
        )
    return {name: value for name, value in found.items() if name in Settings.__struct_fields__}


def _checked(name: str, value: object, place: str) -> object:
    if name not in _TYPES:
        raise SettingError(f"{place}: no setting {name!r}; {suggestion(name, _TYPES)}")
    label = PREFIX + name.upper() if place == "environment" else name
    try:
        return msgspec.convert(value, _TYPES[name], strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        found = "***" if name in SECRETS else masked(str(value))
        raise SettingError(f"{place}: {label} is {found!r}: {error}") from None


_TYPES = get_type_hints(Settings, include_extras=True)
