"""A small HTTP client for load tests. It runs on the machine that it measures, so it parses as little as possible."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import Self
from urllib.parse import urlsplit


class Connection(asyncio.Protocol):
    """One open connection. Requests are encoded beforehand, and only the status of a response is read."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._waiting: asyncio.Future[int] | None = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    async def send(self, request: bytes) -> int:
        """Send a request and return the status of its response."""
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._waiting

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, body = self._data.partition(b"\r\n\r\n")
        if not found or self._waiting is None:
            return
        length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
        if len(body) >= int(length.split(b":")[1]):
            waiting, self._waiting, self._data = self._waiting, None, b""
            waiting.set_result(int(head.split(b" ", 2)[1]))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(exc or ConnectionResetError("the server closed the connection"))

    def close(self) -> None:
        self._transport.close()


class Pool:
    """A pool of connections that grows to the largest number needed at once."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or 80
        self._idle: deque[Connection] = deque()
        self._all: list[Connection] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for connection in self._all:
            connection.close()

    def request(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        """Return a request as bytes."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    async def send(self, request: bytes) -> int:
        """Send a request on a free connection."""
        if self._idle:
            connection = self._idle.pop()
        else:
            _, connection = await asyncio.get_running_loop().create_connection(Connection, self.host, self.port)
            self._all.append(connection)
        status = await connection.send(request)
        self._idle.append(connection)
        return status


class Stream(asyncio.Protocol):
    """One event stream. Its bytes and events are counted."""

    def __init__(self, path: str, host: str) -> None:
        self._request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        self._transport: asyncio.Transport
        self._tail = b""
        self.bytes = 0
        self.events: Counter[str] = Counter()
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self.bytes += len(data)
        text = self._tail + data
        if text.count(b"event: "):
            for part in text.split(b"event: ")[1:]:
                name, found, _ = part.partition(b"\n")
                if found:
                    self.events[name.decode()] += 1
        cut = text.rfind(b"event: ")
        self._tail = text[cut:] if cut >= 0 and b"\n" not in text[cut:] else text[-7:] if cut < 0 else b""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.ended = True

    def close(self) -> None:
        self._transport.close()
