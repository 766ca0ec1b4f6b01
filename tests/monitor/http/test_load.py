"""Clients that are slow, silent, many or compressed, and names that are not the monitor's."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from streams.monitor.http import connections
from streams.monitor.http.handlers import read
from streams.settings import Settings
from tests.builders import NOON, crowd_log, judgment
from tests.monitor.site import JSON, TOKEN, TOKENS, Running, running
from tests.waiting import PATIENCE_SECONDS, wait_for


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SWEEP_SECONDS", 0.02)


@contextmanager
def connected(monitor: Running, sent: bytes = b"") -> Iterator[socket.socket]:
    parts = urlsplit(monitor.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_SECONDS) as found:
        found.sendall(sent)
        yield found


def until_closed(found: socket.socket) -> bytes:
    received = b""
    try:
        while part := found.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return received


def status(received: bytes) -> int:
    return int(received.split()[1])


# -- bodies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/campaigns/c/judgments", "/campaigns/c/label-studio", "/session", "/campaigns"])
def test_a_compressed_body_is_refused_before_it_is_read(monitor: Running, path: str) -> None:
    bomb = gzip.compress(b"[" * 10_000_000)
    headers = {**JSON, **TOKEN, "Content-Encoding": "gzip", "Content-Length": str(len(bomb))}
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items())
    with connected(monitor, head.encode() + b"\r\n") as found:  # the body never comes
        assert status(found.recv(65536)) == 415
    answer = monitor.ask(path, method="POST", body=bomb, headers=headers)
    assert (answer.status, answer.json["error"]["reason"]) == (415, "unsupported_encoding")
    plain = {**JSON, **TOKEN, "Content-Encoding": "identity"}
    assert monitor.ask("/campaigns/c/judgments", method="POST", body=b"{}", headers=plain).status == 422


@pytest.mark.long
def test_a_body_that_comes_too_slowly_is_given_up() -> None:
    with running(Settings(monitor_tokens=TOKENS, monitor_request_seconds=1)) as monitor:
        head = b"POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n"
        with connected(monitor, head + b"{") as found:
            received = until_closed(found)
        assert status(received) == 408
        assert b"within 1 seconds" in received


def test_without_a_token_a_body_is_small(monitor: Running) -> None:
    body = json.dumps({"token": "x" * 5000}).encode()
    assert monitor.ask("/session", method="POST", body=body, headers=JSON).status == 413


# -- connections ---------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("sent", [b"", b"GET /campaigns HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_a_connection_without_a_whole_request_is_closed(sent: bytes) -> None:
    with running(Settings(monitor_idle_seconds=1, monitor_request_seconds=1)) as monitor:
        with connected(monitor, sent) as found:
            assert until_closed(found) == b""
        assert monitor.ask("/healthz").status == 200


@pytest.mark.long
def test_a_connection_is_closed_if_no_second_request_comes() -> None:
    with running(Settings(monitor_idle_seconds=1)) as monitor:
        with connected(monitor, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") as found:
            assert status(until_closed(found)) == 200
        wait_for(lambda: len(monitor.site.connections) == 0)


def test_an_open_stream_is_not_idle() -> None:
    with running(Settings(monitor_idle_seconds=1, snapshot_seconds=0.1)) as monitor:
        monitor.publish(judgment(1))
        with monitor.events("/campaigns/c/events") as events:
            next(events)
            now = monitor.site.monitor.now()
            monitor.site.connections.close_expired(now + 1e6)
            monitor.publish(judgment(2))
            assert next(event for event in events if event.event == "rows").data["judgments"] == 2


def test_one_address_has_a_limited_number_of_connections() -> None:
    with running(Settings(monitor_connections_per_address=3)) as monitor, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connected(monitor))
        wait_for(lambda: len(monitor.site.connections) == 3)
        with connected(monitor) as found:
            received = until_closed(found)
        assert status(received) == 429
        assert b"Retry-After: " in received
        stack.close()
        wait_for(lambda: len(monitor.site.connections) == 0)
        assert monitor.ask("/healthz").status == 200


def test_a_trusted_proxy_may_have_more_connections() -> None:
    settings = Settings(monitor_connections_per_address=1, monitor_proxies="127.0.0.0/8")
    with running(settings) as monitor, connected(monitor), connected(monitor):
        assert monitor.ask("/healthz").status == 200


def test_idle_connections_make_room_for_a_request() -> None:
    with running(Settings(monitor_connections=3)) as monitor, ExitStack() as stack:
        oldest = stack.enter_context(connected(monitor))
        wait_for(lambda: len(monitor.site.connections) == 1)
        for _ in range(2):
            stack.enter_context(connected(monitor))
        wait_for(lambda: len(monitor.site.connections) == 3)
        assert monitor.ask("/healthz").status == 200
        assert until_closed(oldest) == b""


def test_if_all_connections_are_busy_the_next_one_is_told_to_wait() -> None:
    with running(Settings(monitor_connections=1)) as monitor:
        monitor.publish(judgment(1))
        with monitor.events("/campaigns/c/events") as events:
            next(events)
            with connected(monitor) as found:
                received = until_closed(found)
            assert status(received) == 503
            assert b"Retry-After: " in received


# -- streams -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "expected"), [("monitor_streams_per_address", 429), ("monitor_streams", 503)])
def test_streams_are_limited(limit: str, expected: int) -> None:
    settings = {"monitor_tokens": TOKENS, "snapshot_seconds": 0.1, limit: 1}
    with running(Settings(**settings)) as monitor:  # type: ignore[arg-type]
        monitor.publish(judgment(1))
        with monitor.events("/campaigns/c/events") as events:
            next(events)
            for path in ("/events", "/campaigns/c/events"):
                answer = monitor.ask(path)
                assert answer.status == expected
                assert int(answer.headers["Retry-After"]) >= 1
        assert monitor.ask("/campaigns/none/events").status in (404, expected)


def test_a_client_that_does_not_read_its_stream_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "STALLED_SECONDS", 0.2)
    with running(Settings(snapshot_seconds=0.1)) as monitor:
        monitor.publish(judgment(1))
        with connected(monitor, b"GET /campaigns/c/events HTTP/1.1\r\nHost: localhost\r\n\r\n") as found:
            found.recv(1)
            wait_for(lambda: monitor.site.streams.total == 1)
            channel = monitor.site.hub._campaigns["c"]
            filler = b": " + b"x" * 1_000_000 + b"\n\n"

            def fill() -> bool:
                for listener in list(channel.listeners):
                    monitor.loop.call_soon_threadsafe(listener.put, filler)
                return monitor.site.streams.total == 0

            wait_for(fill, "the stream ends")
        wait_for(lambda: len(monitor.site.connections) == 0)


# -- names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "10.1.2.3", "[::1]:8080", "a.localhost"]
)
def test_addresses_and_localhost_are_names_of_the_monitor(monitor: Running, host: str) -> None:
    assert monitor.ask("/campaigns", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "localhost.evil.example", "x" * 300, "10.1.2.3.evil.example"]
)
def test_another_name_is_refused_so_that_no_page_can_rebind_its_own(monitor: Running, host: str) -> None:
    for path in ("/campaigns", "/", "/static/main.js", "/metrics"):
        answer = monitor.ask(path, headers={"Host": host})
        assert (answer.status, answer.json["error"]["reason"]) == (421, "unknown_host")
    assert "monitor_hosts" in answer.json["error"]["message"]
    for path in ("/healthz", "/readyz"):
        assert monitor.ask(path, headers={"Host": host}).status == 200


def test_the_setting_adds_names() -> None:
    with running(Settings(monitor_hosts="judge.example, *.lab.example")) as monitor:
        for host, expected in (("judge.example", 200), ("a.lab.example:80", 200), ("lab.example", 421)):
            assert monitor.ask("/campaigns", headers={"Host": host}).status == expected


# -- the list of campaigns -----------------------------------------------------------------------------


def names(page: Any) -> list[str]:
    return [each["campaign"] for each in page["campaigns"]]


def test_campaigns_come_in_pages_that_cover_all_of_them_once() -> None:
    with running(Settings(monitor_tokens=TOKENS, snapshot_seconds=3600)) as monitor:
        monitor.publish(*(judgment(1, campaign=f"c{number:03}", at=NOON) for number in range(130)))
        wait_for(lambda: monitor.get("/campaigns")["total"] == 130)
        first = monitor.get("/campaigns")
        assert len(first["campaigns"]) == 100
        assert names(first) == sorted(names(first), reverse=True)  # they have the same time
        found, after = names(first), first["next"]
        while after is not None:
            page = monitor.get(f"/campaigns?limit=7&after={after}")
            found += names(page)
            after = page["next"]
        assert sorted(found) == [f"c{number:03}" for number in range(130)]
        with monitor.events("/events") as events:
            begun = list(itertools.takewhile(lambda event: event.event == "overview", events))
        assert [event.data["campaign"] for event in begun] == names(first)


@pytest.mark.parametrize(
    "query", ["after=", "after=x", "after=1", "limit=0", "limit=1001", "limit=x", "after=" + "9" * 40 + ":c"]
)
def test_a_page_that_makes_no_sense_is_refused(monitor: Running, query: str) -> None:
    answer = monitor.ask(f"/campaigns?{query}")
    assert answer.status == 422
    assert answer.json["error"]["field"] in query


def test_the_list_is_made_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as monitor:
        monitor.publish(*crowd_log(30))
        made = 0
        original = monitor.site.monitor.overviews

        async def counted() -> Any:
            nonlocal made
            made += 1
            return await original()

        monkeypatch.setattr(monitor.site.monitor, "overviews", counted)
        monkeypatch.setattr(monitor.site.monitor, "now", lambda: 1e9)  # the clock stands still
        for _ in range(20):
            monitor.get("/campaigns")
            with monitor.events("/events") as events:
                next(events)
        assert made == 1
