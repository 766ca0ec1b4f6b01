"""The connections of the monitor: how many there may be, and how long one may wait without a request."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, cast

from aiohttp import web

from streams.monitor.http.addresses import UNKNOWN, network_of
from streams.monitor.http.responses import JSON, RETRY_SECONDS, ErrorPayload, RequestError, too_busy, too_many
from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.monitor.http.addresses import ClientAddresses
    from streams.settings import Settings

log = logging.getLogger(__name__)

OTHER_FILES = 200  # that the process may have open beside its connections
SWEEP_SECONDS = 1.0


class Connection(asyncio.Protocol):
    """One connection. It passes everything on to a handler of aiohttp, and tells when it begins and ends."""

    def __init__(self, connections: Connections, make_handler: Callable[[], asyncio.Protocol]) -> None:
        self._connections = connections
        self._make_handler = make_handler
        self._handler: asyncio.Protocol | None = None
        self.transport: asyncio.Transport
        self.address = UNKNOWN

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection, or answer at once that there are too many."""
        self.transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if isinstance(peer, tuple) else UNKNOWN
        refusal = self._connections.add(self)
        if refusal is None:
            self._handler = self._make_handler()
            self._handler.connection_made(transport)
        else:
            self.transport.write(_raw_response(refusal))
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Pass bytes on."""
        if self._handler is not None:
            self._connections.receive(self)
            self._handler.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass the end of the client's bytes on."""
        return self._handler.eof_received() if self._handler is not None else None

    def pause_writing(self) -> None:
        """Pass on that the client reads too slowly."""
        if self._handler is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the client reads again."""
        if self._handler is not None:
            self._handler.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass the end on."""
        if self._handler is not None:
            self._connections.remove(self)
            self._handler.connection_lost(exc)


class Connections:
    """All open connections. Those without a request are closed after a while, or earlier if others need the room."""

    def __init__(self, settings: Settings, addresses: ClientAddresses) -> None:
        self._addresses = addresses
        self._most = _most_connections(settings.monitor_connections)
        self._most_per_address = settings.monitor_connections_per_address
        self._idle_seconds = settings.monitor_idle_seconds
        self._head_seconds = settings.monitor_request_seconds
        self._open: dict[asyncio.BaseTransport, Connection] = {}
        self._per_address: Counter[str] = Counter()
        # Both in the order of time: since when a connection waits for a request, and since when for the rest of one.
        self._idle: OrderedDict[Connection, float] = OrderedDict()
        self._heads: OrderedDict[Connection, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection) -> RequestError | None:
        """Add a connection. Return the error if there are too many."""
        sender = network_of(connection.address)
        if self._per_address[sender] >= self._most_per_address and not self._addresses.trusts(connection.address):
            return too_many("too many connections from this address", seconds=RETRY_SECONDS)
        if len(self._open) >= self._most and not self._make_room():
            return too_busy("all connections of this monitor are in use")
        self._open[connection.transport] = connection
        self._per_address[sender] += 1
        self._idle[connection] = _now()
        return None

    def _make_room(self) -> bool:
        """Close the connection that has waited longest without a request. Return False if there is none."""
        for waiting in (self._idle, self._heads):
            if waiting:
                self._close(next(iter(waiting)))
                return True
        return False

    def receive(self, connection: Connection) -> None:
        """Note that a request begins to arrive."""
        if self._idle.pop(connection, None) is not None:
            self._heads[connection] = _now()

    def begin(self, request: web.Request) -> None:
        """Note that a request is being handled."""
        if (connection := self._of(request)) is not None:
            self._idle.pop(connection, None)
            self._heads.pop(connection, None)

    def end(self, request: web.Request) -> None:
        """Note that a response is ready. From now on, the client has to read it and to send the next request."""
        if (connection := self._of(request)) is not None:
            self._idle[connection] = _now()

    def _of(self, request: web.Request) -> Connection | None:
        return None if request.transport is None else self._open.get(request.transport)

    def remove(self, connection: Connection) -> None:
        """Forget a connection."""
        if self._open.pop(connection.transport, None) is None:
            return
        sender = network_of(connection.address)
        self._per_address[sender] -= 1
        if not self._per_address[sender]:
            del self._per_address[sender]
        self._idle.pop(connection, None)
        self._heads.pop(connection, None)

    async def sweep(self) -> None:
        """Close connections that have waited too long, for ever."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.close_expired(_now())

    def close_expired(self, now: float) -> None:
        """Close the connections that have waited too long."""
        for waiting, seconds in ((self._idle, self._idle_seconds), (self._heads, self._head_seconds)):
            while waiting and now - next(iter(waiting.values())) >= seconds:
                self._close(next(iter(waiting)))

    def _close(self, connection: Connection) -> None:
        self.remove(connection)
        connection.transport.abort()  # `close` would wait for a client that does not read


CONNECTIONS = web.AppKey("connections", Connections)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _most_connections(wanted: int) -> int:
    """Return how many connections are possible. The limit of open files is raised if the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < needed:
            log.warning("this process may open %d files; at most %d connections are accepted", soft, soft - OTHER_FILES)
            return max(1, soft - OTHER_FILES)
    return wanted


def _raw_response(error: RequestError) -> bytes:
    """Return a response for a client whose request is not read."""
    body = encode(ErrorPayload(error=error.problem))
    reason = {429: "Too Many Requests", 503: "Service Unavailable"}[error.status]
    fields = {**error.headers, "Content-Type": JSON, "Content-Length": str(len(body)), "Connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {error.status} {reason}\r\n{head}\r\n".encode() + body
