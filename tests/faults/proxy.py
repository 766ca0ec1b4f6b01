"""A proxy between a client and a server that holds the traffic up, or loses answers, when it is told to."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self, TypeVar

from deploy.ports import HOST, free_port

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

CHUNK_BYTES = 2**16
Result = TypeVar("Result")


class Proxy:
    """Forwards what comes on `port` of the loopback to a port there.

    `losing` are words of requests: the server does as it is told, but every second answer to one of them is
    swallowed and the connection cut, so that the client can't know. `lost` counts these answers by word.
    """

    def __init__(self, target: int, *, losing: tuple[bytes, ...] = ()) -> None:
        self.port = free_port()
        self.lost = dict.fromkeys(losing, 0)
        self._target = target
        self._spare = dict.fromkeys(losing, False)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy")
        self._open = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        self._open.set()
        self._server = self._do(asyncio.start_server(self._serve, HOST, self.port))
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def blackhole(self) -> Iterator[None]:
        """Hold back all traffic in both directions. Connections neither end nor answer."""
        self._loop.call_soon_threadsafe(self._open.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._open.set)

    def _do(self, work: Coroutine[object, object, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _end(self) -> None:
        self._server.close()
        for _ in range(10):  # rounds of the loop, of which a connection that was let in just now needs a few to begin
            await asyncio.sleep(0)
        connections = list(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._open.wait()
            with suppress(OSError):
                await _Connection(self, reader, writer).forward(self._target)
        except asyncio.CancelledError:
            pass  # the proxy ends; a cancelled handler would be told as an error of the server
        finally:
            await _cut(writer)
            self._connections.discard(task)

    async def passage(self) -> None:
        """Wait while the traffic is held up."""
        await self._open.wait()

    def is_lost(self, request: bytes) -> bytes | None:
        """Return the word of a request whose answer will be lost, or None. It is every second one of its kind."""
        for word, spare in self._spare.items():
            if word in request:
                self._spare[word] = not spare
                return None if spare else word
        return None


class _Connection:
    """One connection: what it carries each way, and whether its next answer is lost."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._reader = reader
        self._writer = writer
        self._doomed: bytes | None = None

    async def forward(self, port: int) -> None:
        """Carry bytes both ways until one side ends."""
        server_reader, server_writer = await asyncio.open_connection(HOST, port)
        ways = [
            asyncio.create_task(self._requests(server_writer)),
            asyncio.create_task(self._answers(server_reader)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            await _cut(server_writer)

    async def _requests(self, server: asyncio.StreamWriter) -> None:
        while request := await self._reader.read(CHUNK_BYTES):
            self._doomed = self._doomed or self._proxy.is_lost(request)
            await self._proxy.passage()
            server.write(request)
            await server.drain()

    async def _answers(self, server: asyncio.StreamReader) -> None:
        while answer := await server.read(CHUNK_BYTES):
            await self._proxy.passage()
            # An error is passed on: what it answers was not done.
            if self._doomed and not answer.startswith(b"-"):
                self._proxy.lost[self._doomed] += 1
                return
            self._doomed = None
            self._writer.write(answer)
            await self._writer.drain()


async def _cut(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()
