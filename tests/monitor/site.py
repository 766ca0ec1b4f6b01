"""A monitor that answers on a port of its own, and a small HTTP client, for tests that speak to it as anybody would."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from streams.monitor.backends.base import Backend
from streams.monitor.backends.embedded import EmbeddedBackend
from streams.monitor.http.app import Site
from streams.monitor.http.server import serve_app
from streams.monitor.http.tokens import entry_of
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from tests.waiting import PATIENCE_SECONDS

SECRET = "0123456789abcdef"
TOKENS = entry_of("tests", SECRET)  # with every scope, for all campaigns
TOKEN = {"Authorization": f"Bearer {SECRET}"}
JSON = {"Content-Type": "application/json"}


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Event:
    event: str
    data: Any
    id: int | None = None


@dataclass
class Client:
    """Speaks HTTP to an address."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_SECONDS)

    def ask(
        self, path: str, *, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = self._connection()
        try:
            connection.request(method, path, body=body, headers={**self.headers, **(headers or {})})
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.ask(path)
        assert answer.status == 200, answer
        return answer.json

    def post(self, path: str, value: object, **headers: str) -> Answer:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.ask(path, method="POST", body=body, headers={**TOKEN, **JSON, **headers})

    @contextmanager
    def events(self, path: str) -> Iterator[Iterator[Event]]:
        """Open an event stream; give its events as they come."""
        connection = self._connection()
        connection.request("GET", path, headers=dict(self.headers))
        response = connection.getresponse()
        assert response.status == 200
        try:
            yield _events(response)
        finally:
            response.close()
            connection.close()


def _events(lines: http.client.HTTPResponse) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in lines:
        text = line.decode().rstrip("\n")
        if text:
            name, _, value = text.partition(": ")
            fields[name] = value
        elif "data" in fields:
            number = fields.get("id")
            yield Event(fields["event"], json.loads(fields["data"]), int(number) if number else None)
            fields = {}
        else:
            fields = {}


@dataclass
class Running(Client):
    """A monitor in this process, with a way to do things in its event loop."""

    site: Site = field(kw_only=True)
    loop: asyncio.AbstractEventLoop = field(kw_only=True)

    @property
    def stream(self) -> Embedded:
        backend = self.site.monitor.backend
        assert isinstance(backend, EmbeddedBackend)
        return backend.stream

    def publish(self, *events: Any) -> None:
        """Append events to the log and let them be processed, as a worker would."""

        def append() -> None:
            for event in events:
                self.stream.publish(event)

        backend = self.site.monitor.backend
        assert isinstance(backend, EmbeddedBackend)
        asyncio.run_coroutine_threadsafe(backend.work(append), self.loop).result(PATIENCE_SECONDS)


@contextmanager
def running(settings: Settings | None = None, *, backend: Backend | None = None) -> Iterator[Running]:
    """Run a monitor on an embedded stream, or on another backend, in a thread."""
    settings = settings or Settings(monitor_tokens=TOKENS, judge_key="a key for tests", snapshot_seconds=0.1)
    up, down = threading.Event(), asyncio.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        site = Site(backend or EmbeddedBackend(Embedded(settings)), settings)
        async with serve_app(site.app(), host="127.0.0.1", port=0) as url:
            found.update(url=url, site=site, loop=asyncio.get_running_loop())
            up.set()
            await down.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert up.wait(PATIENCE_SECONDS)
    try:
        yield Running(found["url"], site=found["site"], loop=found["loop"])
    finally:
        found["loop"].call_soon_threadsafe(down.set)
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
