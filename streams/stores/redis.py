"""The store of the real way: per-campaign tables in Redis, one atomic call a batch."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from streams.errors import Conflict, Fenced, ForeignCampaign, SettingError, StoreUnavailable
from streams.settings import masked
from streams.state import TABLES, Output, PartitionState, StoredCampaign
from streams.stores.base import Lease
from streams.stores.keys import Keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from streams.state import CampaignChange, Commit

TIMEOUT_SECONDS = 5.0


class RedisStore:
    """Keeps the state in Redis.

    No call is retried here: `persist` and `load` may be given again by the caller, and change nothing the second time.
    """

    def __init__(self, url: str, *, namespace: str = "") -> None:
        self._url = masked(url)
        self._keys = Keys(namespace)
        try:
            self._redis = redis.Redis.from_url(
                url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS, retry=Retry(NoBackoff(), 0)
            )
        except ValueError as error:
            raise SettingError(f"redis is {self._url!r}: {error}") from None
        self._persist = self._redis.register_script(_lua("persist"))
        self._claim = self._redis.register_script(_lua("claim"))

    def ping(self) -> str:
        """Give the server's version, or raise what keeps it from answering."""
        with self._answering():
            info: dict[str, Any] = self._redis.info("server")
            return str(info["redis_version"])

    def open(self, partition: str) -> tuple[Lease, PartitionState]:
        """Take a partition over."""
        head = self._keys.partition(partition)
        with self._answering():
            pipeline = self._redis.pipeline(transaction=True)
            pipeline.hincrby(head, "epoch", 1)
            pipeline.hgetall(head)
            pipeline.smembers(self._keys.partition_campaigns(partition))
            pipeline.get(self._keys.partition_outbox(partition))
            epoch, fields, campaigns, outbox = pipeline.execute()
        return Lease(partition, epoch), PartitionState(
            next_offset=int(fields.get(b"offset", 0)),
            read=int(fields.get(b"read", 0)),
            rejected=int(fields.get(b"rejected", 0)),
            campaigns=tuple(sorted(name.decode() for name in campaigns)),
            outbox=_unpacked(outbox),
        )

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        """Give a campaign's state and make the lease its writer."""
        with self._answering():
            status, detail = self._claim(
                keys=[self._keys.campaign(campaign, "meta")], args=[lease.epoch, lease.partition]
            )
            if status == b"NONE":
                return None
            if status == b"FOREIGN":
                raise ForeignCampaign(campaign, detail.decode())
            if status == b"FENCED":
                raise _fenced(lease, detail)
            return self._read(campaign)

    def persist(self, lease: Lease, commit: Commit) -> None:
        """Write a batch."""
        partition = _Unit(
            head=self._keys.partition(lease.partition),
            start=0,
            before=commit.before,
            after=commit.after,
            writes=[
                ("HSET", self._keys.partition(lease.partition), ["read", commit.read, "rejected", commit.rejected]),
                (
                    "SADD",
                    self._keys.partition_campaigns(lease.partition),
                    [change.campaign for change in commit.campaigns],
                ),
                ("SET", self._keys.partition_outbox(lease.partition), [_packed(commit.outbox)]),
            ],
        )
        units = [*(self._unit(change) for change in commit.campaigns), partition]
        with self._answering():
            status, detail = self._persist(
                keys=list(dict.fromkeys(key for unit in units for key in unit.touched())),
                args=[lease.epoch, lease.partition, *(item for unit in units for item in unit.arguments())],
            )
        if status == b"FENCED":
            raise _fenced(lease, detail)
        if status == b"CONFLICT":
            raise Conflict(f"{lease.partition}: {detail.decode()}")

    def campaigns(self, partitions: Iterable[str]) -> list[str]:
        """List the campaigns of some partitions."""
        with self._answering():
            pipeline = self._redis.pipeline(transaction=False)
            for partition in partitions:
                pipeline.smembers(self._keys.partition_campaigns(partition))
            return sorted(name.decode() for names in pipeline.execute() for name in names)

    def peek(self, campaign: str) -> StoredCampaign | None:
        """Give a campaign's state without taking it over."""
        with self._answering():
            stored = self._read(campaign)
        return stored if stored.meta else None

    def partition(self, partition: str) -> dict[str, str]:
        """Give the head of a partition as it stands."""
        with self._answering():
            fields: dict[bytes, bytes] = self._redis.hgetall(self._keys.partition(partition))  # type: ignore[assignment]
        return {name.decode(): value.decode() for name, value in fields.items()}

    def close(self) -> None:
        """Let the connections go."""
        self._redis.close()

    def _read(self, campaign: str) -> StoredCampaign:
        pipeline = self._redis.pipeline(transaction=True)
        pipeline.hget(self._keys.campaign(campaign, "meta"), "campaign")
        pipeline.get(self._keys.campaign(campaign, "outbox"))
        pipeline.lrange(self._keys.campaign(campaign, "seen"), 0, -1)
        for table in TABLES:
            pipeline.hgetall(self._keys.campaign(campaign, table))
        meta, outbox, seen, *tables = pipeline.execute()
        return StoredCampaign(
            meta=meta or b"",
            tables={
                table: {name.decode(): value for name, value in rows.items()}
                for table, rows in zip(TABLES, tables, strict=True)
            },
            seen=tuple(judgment_id.decode() for judgment_id in seen),
            outbox=_unpacked(outbox),
        )

    def _unit(self, change: CampaignChange) -> _Unit:
        def key(table: str) -> str:
            return self._keys.campaign(change.campaign, table)

        replaced = [key(table) for table in (*TABLES, "seen", "leaderboard")] if change.whole else []
        return _Unit(
            head=key("meta"),
            start=-1,
            before=change.before,
            after=change.after,
            writes=[
                *(("UNLINK", table, [table]) for table in replaced),
                ("HSET", key("meta"), ["campaign", change.meta]),
                *(("HSET", key(table), _flat(rows.items())) for table, rows in change.tables.items()),
                ("RPUSH", key("seen"), change.seen),
                ("LTRIM", key("seen"), [-change.seen_ids, -1]),
                ("ZADD", key("leaderboard"), _flat((score, system) for system, score in change.scores.items())),
                ("ZREM", key("leaderboard"), change.withdrawn),
                ("SET", key("outbox"), [_packed(change.outbox)]),
            ],
        )

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Say in this project's words why Redis did not do as it was told."""
        try:
            yield
        except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
            raise SettingError(f"Redis at {self._url} refuses the user or the password: {error}") from None
        except redis.OutOfMemoryError:
            raise StoreUnavailable(f"Redis at {self._url} is full: give it memory (maxmemory) or remove data") from None
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise StoreUnavailable(f"Redis at {self._url} does not answer: {error}") from None
        except redis.ResponseError as error:
            if str(error).startswith(
                ("OOM", "READONLY", "LOADING", "MISCONF", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN")
            ):
                raise StoreUnavailable(f"Redis at {self._url} can't write now: {error}") from None
            raise


@dataclass(frozen=True, kw_only=True)
class _Unit:
    """What moves together with one head; `persist.lua` says how it is read."""

    head: str
    start: int
    before: int
    after: int
    writes: list[tuple[str, str, Sequence[Any]]]

    def touched(self) -> Iterator[str]:
        yield self.head
        yield from (key for _, key, _ in self.writes)

    def arguments(self) -> Iterator[Any]:
        yield from (self.head, self.start, self.before, self.after, len(self.writes))
        for command, key, arguments in self.writes:
            yield from (command, key, len(arguments), *arguments)


def _lua(name: str) -> str:
    return files("streams.stores").joinpath(f"{name}.lua").read_text()


def _fenced(lease: Lease, epoch: bytes) -> Fenced:
    return Fenced(f"{lease.partition}: epoch {lease.epoch} is over, now {epoch.decode()}")


def _flat(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [item for pair in pairs for item in pair]


def _packed(outbox: tuple[Output, ...]) -> bytes:
    return msgspec.msgpack.encode(outbox)


def _unpacked(outbox: bytes | None) -> tuple[Output, ...]:
    return tuple(msgspec.msgpack.decode(outbox, type=list[Output])) if outbox else ()
