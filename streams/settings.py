"""The settings of commands and services. Precedence: flag, environment variable, TOML file, default."""

from __future__ import annotations

import os
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
# Variables with the same prefix that are not settings: the TOML file, the data of the tests, docker-compose.yml.
OTHER_VARIABLES = frozenset({"config", "data", "redis_password"})


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings with their defaults. A description is also the help of the flag.

    >>> Settings(partitions=3).partitions
    3
    """

    kafka: Annotated[str, Meta(min_length=1, description="Kafka bootstrap servers, host:port, comma-separated.")] = (
        "127.0.0.1:9092"
    )
    kafka_security: Annotated[
        Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"],
        Meta(description="Security protocol of Kafka: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL."),
    ] = "PLAINTEXT"
    kafka_mechanism: Annotated[
        Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"],
        Meta(description="SASL mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."),
    ] = "PLAIN"
    kafka_username: Annotated[str, Meta(description="SASL user name.")] = ""
    kafka_password: Annotated[str, Meta(description="SASL password.")] = ""
    kafka_ca_file: Annotated[
        str, Meta(description="PEM file of the trusted certificate authority. If empty, the system's.")
    ] = ""
    kafka_cert_file: Annotated[str, Meta(description="PEM file of the client certificate.")] = ""
    kafka_key_file: Annotated[
        str, Meta(description="PEM file of the client key. If empty, it is in the certificate file.")
    ] = ""
    redis: Annotated[
        str,
        Meta(pattern=r"^(redis|rediss|unix)://", description="URL of Redis, including the password."),
    ] = "redis://127.0.0.1:6379/0"
    namespace: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9_-]*$", max_length=60, description="Prefix of topics, consumer groups and Redis keys."
        ),
    ] = ""
    judge_key: Annotated[str, Meta(description="Secret key that turns judge ids into pseudonyms.")] = ""
    partitions: Annotated[
        int, Meta(ge=1, le=10_000, description="Partitions per topic that `topics --create` creates.")
    ] = 12
    replication: Annotated[
        int, Meta(ge=1, le=100, description="Replicas per topic that `topics --create` creates.")
    ] = 1
    batch_records: Annotated[
        int, Meta(ge=1, le=100_000, description="Maximum records that are rated and written at once.")
    ] = 50_000
    batch_seconds: Annotated[
        float, Meta(ge=0, le=60, description="Seconds between two fetches while records come without a pause.")
    ] = 0.004
    snapshot_seconds: Annotated[
        float, Meta(gt=0, description="Seconds between two leaderboards of a changing campaign.")
    ] = 5.0
    snapshot_judgments: Annotated[
        int,
        Meta(ge=0, description="Judgments after which a leaderboard is also published; 0: by time only."),
    ] = 0
    session_timeout_seconds: Annotated[
        float,
        Meta(ge=6, le=1800, description="Seconds of silence after which another worker takes over the partitions."),
    ] = 20.0
    max_record_bytes: Annotated[
        int, Meta(ge=1000, le=8_000_000, description="Maximum bytes of a record. A longer record is rejected.")
    ] = 1_000_000
    seen_ids: Annotated[int, Meta(ge=1, description="Recent judgment ids kept per campaign to detect duplicates.")] = (
        100_000
    )
    max_judges: Annotated[
        int, Meta(ge=1, description="Maximum judges per campaign. A judgment of one more judge is rejected.")
    ] = 100_000
    max_segments: Annotated[
        int,
        Meta(ge=1, description="Maximum segments per campaign that are kept one by one. The rest is counted as one."),
    ] = 100_000
    max_group_cells: Annotated[
        int,
        Meta(ge=1, description="Maximum counts per campaign for its rank ranges. Beyond it they have fewer groups."),
    ] = 4_000_000
    max_campaigns: Annotated[
        int, Meta(ge=1, description="Maximum campaigns per partition. A record that begins one more is rejected.")
    ] = 10_000
    unknown_campaign: Annotated[
        Literal["create", "reject"],
        Meta(description="What to do with a judgment of an unknown campaign: create it, or reject."),
    ] = "create"
    idle_seconds: Annotated[
        float, Meta(ge=0, description="Seconds without a record after which a campaign leaves a worker's memory.")
    ] = 600.0
    max_loaded_campaigns: Annotated[
        int, Meta(ge=1, description="Maximum campaigns per partition in a worker's memory between two batches.")
    ] = 500
    max_undecodable_in_a_row: Annotated[
        int, Meta(ge=0, description="Maximum undecodable records in a row before a partition stops; 0: no limit.")
    ] = 1000
    max_undecodable_share: Annotated[
        float,
        Meta(gt=0, le=1, description="Maximum share of undecodable records before a partition stops; 1: no limit."),
    ] = 0.5
    undecodable_window: Annotated[
        int, Meta(ge=1, description="Recent records over which max_undecodable_share is computed.")
    ] = 5000
    seed: Annotated[int, Meta(ge=0, description="Seed of the random number generator.")] = 1
    health_host: Annotated[
        str, Meta(min_length=1, description="Address on which a worker serves its health and metrics.")
    ] = "127.0.0.1"
    health_port: Annotated[
        int, Meta(ge=0, le=65535, description="Port of the worker's health and metrics; 0: off.")
    ] = 0
    monitor_host: Annotated[str, Meta(min_length=1, description="Address on which the monitor listens.")] = "127.0.0.1"
    monitor_port: Annotated[int, Meta(ge=0, le=65535, description="Port of the monitor; 0: any free port.")] = 8080
    monitor_tokens: Annotated[
        str,
        Meta(description="Tokens, NAME:SCOPES:CAMPAIGNS:HASH, comma-separated, or @FILE with one per line."),
    ] = ""
    monitor_reads: Annotated[
        Literal["open", "closed"], Meta(description="Read access to the monitor: open, or closed (a token is needed).")
    ] = "open"
    monitor_origins: Annotated[
        str, Meta(description="Other web origins that may call the monitor, comma-separated. If empty, none.")
    ] = ""
    monitor_hosts: Annotated[
        str,
        Meta(description="Names of the monitor in URLs, comma-separated; *: any. Addresses always work."),
    ] = ""
    monitor_proxies: Annotated[
        str,
        Meta(description="Trusted proxies that name the client: addresses or networks, comma-separated."),
    ] = ""
    monitor_body_bytes: Annotated[
        int, Meta(ge=1000, le=64_000_000, description="Maximum bytes of a request to the monitor.")
    ] = 1_000_000
    monitor_rate: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Maximum requests per second of one token, or of one address without a token.",
        ),
    ] = 1000
    monitor_connections: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Maximum open connections of the monitor.")
    ] = 5000
    monitor_connections_per_address: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Maximum open connections of one address, except a trusted proxy.")
    ] = 500
    monitor_streams: Annotated[int, Meta(ge=1, le=1_000_000, description="Maximum open event streams.")] = 2000
    monitor_streams_per_address: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Maximum open event streams of one address.")
    ] = 100
    monitor_idle_seconds: Annotated[
        float, Meta(ge=1, le=86_400, description="Seconds after which a connection without a request is closed.")
    ] = 75.0
    monitor_request_seconds: Annotated[
        float,
        Meta(ge=1, le=3600, description="Seconds in which the head of a request must arrive, and then its body."),
    ] = 30.0
    monitor_lease_seconds: Annotated[
        float, Meta(ge=1, le=86_400, description="Seconds for which a match is leased to a judge.")
    ] = 600.0
    monitor_max_demand: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Maximum open match requests of a campaign when many judges ask; 0: always `outstanding`.",
        ),
    ] = 1000
    campaigns_per_token: Annotated[
        int, Meta(ge=1, description="Maximum campaigns that a token may begin within a day by posting to new names.")
    ] = 100
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], Meta(description="Log level: DEBUG, INFO, WARNING or ERROR.")
    ] = "INFO"
    log_format: Annotated[
        Literal["text", "json"], Meta(description="Log format: text, or json (one object per line).")
    ] = "text"

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={masked_value(self, name)!r}' for name in self.__struct_fields__)})"


SECRETS = frozenset({"judge_key", "kafka_password", "monitor_tokens"})


def load(
    flags: Mapping[str, object] | None = None,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Load the settings. Raise SettingError, with the name and its place, for an unknown name or a wrong value."""
    environment = os.environ if environment is None else environment
    if file is None and CONFIG_VARIABLE in environment:
        file = Path(environment[CONFIG_VARIABLE])
        if not file.is_file():
            raise SettingError(f"{CONFIG_VARIABLE} is {str(file)!r}: there is no such file")
    if file is None and Path(DEFAULT_FILE).is_file():
        file = Path(DEFAULT_FILE)
    merged: dict[str, object] = {}
    for place, values in (
        (str(file), _from_file(file) if file else {}),
        ("environment", _from_environment(environment)),
        ("flag", {name: value for name, value in (flags or {}).items() if value is not None}),
    ):
        for name, value in values.items():
            merged[name] = _convert(name, value, place)
    return Settings(**merged)  # type: ignore[arg-type]  # _convert has checked each value


def masked_value(settings: Settings, name: str) -> str:
    """Return the value of a setting as text, with secrets masked.

    >>> masked_value(Settings(redis="redis://:hunter2@db:6379/0"), "redis")
    'redis://:***@db:6379/0'
    """
    value = str(getattr(settings, name))
    if name in SECRETS:
        return "***" if value else "(not set)"
    return mask_password(value)


def mask_password(text: str) -> str:
    """Return the text with the password masked, if it is a URL with one."""
    parts = urlsplit(text) if "://" in text else None
    if parts is None or parts.password is None:
        return text
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{host}"))


def _from_file(file: Path) -> dict[str, object]:
    import tomllib

    try:
        with file.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise SettingError(f"{file}: can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{file}: not valid TOML: {error}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    known = {*Settings.__struct_fields__, *OTHER_VARIABLES}
    found = {name.removeprefix(PREFIX).lower(): value for name, value in environment.items() if name.startswith(PREFIX)}
    for name in sorted(found.keys() - known):
        variables = [PREFIX + field.upper() for field in known]
        raise SettingError(
            f"environment: no setting {PREFIX}{name.upper()}; {suggestion(PREFIX + name.upper(), variables)}"
        )
    return {name: value for name, value in found.items() if name in Settings.__struct_fields__}


def _convert(name: str, value: object, place: str) -> object:
    if name not in _TYPES:
        raise SettingError(f"{place}: no setting {name!r}; {suggestion(name, _TYPES)}")
    label = PREFIX + name.upper() if place == "environment" else name
    try:
        return msgspec.convert(value, _TYPES[name], strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        found = "***" if name in SECRETS else mask_password(str(value))
        raise SettingError(f"{place}: {label} is {found!r}: {error}") from None


_TYPES = get_type_hints(Settings, include_extras=True)


def checks_bounds() -> bool:
    """Return whether numba checks every index of the compiled kernels, which makes them slow (NUMBA_BOUNDSCHECK=1)."""
    return os.environ.get("NUMBA_BOUNDSCHECK", "") not in ("", "0")
