"""The connection to Redis, or to a Redis Cluster if the server of the URL belongs to one."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import hiredis
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from streams.errors import Conflict, Fenced, SettingError, StoreCorrupt, StoreUnavailable
from streams.settings import mask_password

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streams.stores.base import Lease

TIMEOUT_SECONDS = 5.0
SAFE_POLICY = "noeviction"
# redis-py removes the code of these answers from their text. It does not know MISCONF, and a pipeline hides that code.
UNABLE = (redis.ReadOnlyError, redis.exceptions.ClusterDownError, redis.exceptions.TryAgainError)
UNABLE_CODE = "MISCONF"
# Scripts that write nothing. EVAL_RO runs them also for a user who may not write the keys.
READ_ONLY = frozenset({"contents", "meta", "outlines", "read_workers"})
REFUSED_IN_SCRIPT = "ACL failure in script"
IDLE_SECONDS = 1.0  # after which the server may have closed a connection without an error so far


class Client:
    """Connects at the first call. No call is retried."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: deque[tuple[float, Any]] = deque()  # connections of `_call`, and when each was used last
        try:
            self.first = redis.Redis.from_url(url, command_packer=_Packer(), **_options())
        except ValueError as error:
            raise SettingError(f"redis is {mask_password(url)!r}: {error}") from None

    @cached_property
    def is_cluster(self) -> bool:
        """Whether the server is a node of a Redis Cluster (`cluster_enabled` of its INFO)."""
        with self.translated_errors():
            info: dict[str, Any] = self.first.info("cluster")
            return bool(info.get("cluster_enabled"))

    @cached_property
    def redis(self) -> redis.Redis:
        """The client of the commands. In a cluster it finds the right node by itself."""
        if not self.is_cluster:
            return self.first
        return cast("redis.Redis", redis.RedisCluster.from_url(self._url, **_options()))

    @property
    def _address(self) -> str:
        return f"Redis at {mask_password(self._url)}"

    def run(self, script: str, *, keys: Sequence[str], args: Sequence[Any], package: str = __package__) -> Any:
        """Run a script from the `lua` folder of a package. Scripts that write return a status and a detail."""
        with self.translated_errors():
            if script in READ_ONLY:
                return self._run(("EVALSHA_RO", "EVAL_RO"), script, package, [len(keys), *keys, *args])
            return self._run(("EVALSHA", "EVAL"), script, package, [len(keys), *keys, *args])

    def _run(self, commands: tuple[str, str], script: str, package: str, arguments: Sequence[Any]) -> Any:
        source, digest = _lua(package, script)
        try:
            return self.call([(commands[0], digest, *arguments)])[0]
        except redis.exceptions.NoScriptError:
            return self.call([(commands[1], source, *arguments)])[0]

    def call(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the answers to commands that are sent at once. The way of redis-py takes twice the time.

        In a cluster all commands have keys of their own nodes, and each takes a round trip.
        """
        if self.is_cluster:
            return [self.redis.execute_command(*command) for command in commands]  # type: ignore[no-untyped-call]
        connection = self._connect()
        try:
            connection.send_packed_command([b"".join(map(hiredis.pack_command, commands))])
            answers = [_read(connection) for _ in commands]
        except BaseException:
            connection.disconnect()  # an answer that is still to come would be taken for that of the next call
            self.first.connection_pool.release(connection)
            raise
        self._idle.append((monotonic(), connection))
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def _connect(self) -> Any:
        """Return a connection that no other thread uses. One that was idle for long is checked by redis-py's pool."""
        pool = self.first.connection_pool
        try:
            used_at, connection = self._idle.pop()
        except IndexError:
            return pool.get_connection()
        if monotonic() - used_at < IDLE_SECONDS:
            return connection
        pool.release(connection)
        return pool.get_connection()

    def write(self, script: str, lease: Lease, *, keys: Sequence[str], args: Sequence[Any]) -> None:
        """Run a script that writes for a lease. Raise Fenced or Conflict if it refuses."""
        status, detail = self.run(script, keys=keys, args=[lease.epoch, lease.partition, *args])
        if (error := refusal(lease, status, detail)) is not None:
            raise error

    def check_eviction(self) -> None:
        """Raise SettingError if a server may delete keys when its memory is full."""
        with self.translated_errors():
            nodes: dict[str, redis.Redis] = {"": self.first}
            if self.is_cluster:
                cluster = cast("redis.RedisCluster", self.redis)
                found = cluster.get_nodes()  # type: ignore[no-untyped-call]
                nodes = {f", node {node.name}": cluster.get_redis_connection(node) for node in found}
            policies = {name: node.info("memory").get("maxmemory_policy", SAFE_POLICY) for name, node in nodes.items()}
        for node, policy in policies.items():
            if policy != SAFE_POLICY:
                raise SettingError(
                    f"{self._address}{node} may delete keys when its memory is full: "
                    f"maxmemory-policy is {policy!r}; set it to {SAFE_POLICY} in redis.conf and now with: "
                    f"redis-cli CONFIG SET maxmemory-policy {SAFE_POLICY}"
                )

    def close(self) -> None:
        """Close the connections."""
        self.first.close()
        if "redis" in self.__dict__:
            self.redis.close()

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Raise errors of Redis as errors of this project."""
        try:
            yield
        except redis.AuthenticationError as error:
            raise SettingError(f"{self._address} refuses the user or the password: {error}") from None
        except redis.exceptions.NoPermissionError as error:
            raise self._not_allowed(error) from None
        except redis.OutOfMemoryError:
            raise StoreUnavailable(f"{self._address} is full: give it memory (maxmemory) or remove data") from None
        except redis.ResponseError as error:
            if isinstance(error, UNABLE) or UNABLE_CODE in str(error):
                raise StoreUnavailable(f"{self._address} can't write now: {error}") from None
            if REFUSED_IN_SCRIPT in str(error):
                raise self._not_allowed(error) from None
            if "WRONGTYPE" in str(error):
                raise StoreCorrupt(f"{self._address} holds a key that this version did not write: {error}") from None
            raise
        except (
            redis.ConnectionError,
            redis.TimeoutError,
            redis.exceptions.ClusterError,
            redis.exceptions.RedisClusterException,
        ) as error:
            raise StoreUnavailable(f"{self._address} does not answer: {error}") from None

    def _not_allowed(self, error: Exception) -> SettingError:
        return SettingError(
            f"{self._address} does not allow this to its user: {error}. "
            "deploy/redis/users.acl has the rights of each role"
        )


def fenced_error(lease: Lease, epoch: bytes) -> Fenced:
    """Return the error of a lease that has ended."""
    return Fenced(f"{lease.partition}: epoch {lease.epoch} is over, now {epoch.decode()}")


def refusal(lease: Lease, status: bytes, detail: bytes) -> Fenced | Conflict | None:
    """Return the error of a script that has refused to write for a lease, or None if it has written."""
    if status == b"FENCED":
        return fenced_error(lease, detail)
    return Conflict(f"{lease.partition}: {detail.decode()}") if status == b"CONFLICT" else None


class _Packer:
    """Packs a command as redis-py does, but without looking at each of its ten thousand arguments."""

    def pack(self, name: str | bytes, *arguments: bytes | str | float) -> list[bytes]:
        """Return the bytes of a command, whose name may have two words."""
        return [hiredis.pack_command((*name.split(), *arguments))]


def _options() -> dict[str, Any]:
    return {
        "socket_timeout": TIMEOUT_SECONDS,
        "socket_connect_timeout": TIMEOUT_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }


def _read(connection: Any) -> Any:
    """Return the next answer, also if it is an error."""
    try:
        return connection.read_response()
    except redis.ResponseError as error:
        return error


@cache
def _lua(package: str, name: str) -> tuple[str, str]:
    """Return a script and the digest by which the server knows it."""
    source = files(package).joinpath("lua", f"{name}.lua").read_text()
    return source, sha1(source.encode()).hexdigest()  # noqa: S324 - the server's own choice
