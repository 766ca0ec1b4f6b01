"""Event streams: whoever puts the changes together has the leaderboard that the API gives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from streams.metrics import MonitorMetrics
from streams.monitor.http.access import Viewer
from streams.monitor.live import channels
from streams.monitor.live.channels import AT_ONCE, MOST_WAITING, Channel, Listener
from streams.monitor.live.messages import StreamEvent, rows_update
from streams.wire.events import Leaderboard, Row, WithdrawSystem
from tests.builders import NOON, crowd_log, judgment
from tests.monitor.site import Event, Running


def applied(board: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Do with changes what the page does."""
    rows = {row["system"]: row for row in board["rows"]} | {row["system"]: row for row in changes["rows"]}
    for system in changes["gone"]:
        del rows[system]
    order = changes["order"] or [row["system"] for row in board["rows"]]
    counts = {"sequence": changes["sequence"], "judgments": changes["judgments"]}
    return board | (changes["board"] or {}) | counts | {"rows": [rows[name] for name in order]}


def until(events: Iterator[Event], kind: str, condition: Any = lambda event: True) -> Event:
    return next(event for event in events if event.event == kind and condition(event))


def test_the_changes_add_up_to_the_api_s_leaderboard(monitor: Running) -> None:
    log = crowd_log(300, systems=7)
    monitor.publish(*log[:50])
    with monitor.events("/campaigns/campaign-0/events") as events:
        first = next(events)
        assert first.event == "leaderboard"
        board = first.data
        assert board == monitor.get("/campaigns/campaign-0/leaderboard")
        for start in range(50, 300, 50):
            monitor.publish(*log[start : start + 50])
            changes = until(events, "rows", lambda event, end=start + 50: event.data["judgments"] == end)
            assert changes.id == changes.data["sequence"]
            board = applied(board, changes.data)
        answer = monitor.get("/campaigns/campaign-0/leaderboard")
        del board["offset"], answer["offset"]  # it is not sent if nothing but counts has changed
        assert board == answer


def test_a_system_that_is_withdrawn_is_gone(monitor: Running) -> None:
    monitor.publish(judgment(1, systems=("a", "b")), judgment(2, systems=("b", "c")))
    with monitor.events("/campaigns/c/events") as events:
        next(events)
        monitor.publish(WithdrawSystem(id="w", campaign="c", at=NOON, system="b"))
        assert until(events, "rows").data["gone"] == ["b"]


def test_only_rows_that_changed_are_sent() -> None:
    def row(system: str, rank: int, score: float) -> Row:
        return Row(
            system=system, rank=rank, rank_low=1, rank_high=3, cluster=1, score=score, deviation=0.1, judgments=1
        )

    def board(*rows: Row) -> Leaderboard:
        return Leaderboard(campaign="c", model="trueskill", sequence=2, offset=1, judgments=2, rows=rows)

    before = board(row("a", 1, 0.5), row("b", 2, 0.2), row("c", 3, 0.1))
    assert rows_update(before, board(row("a", 1, 0.5), row("b", 2, 0.3), row("c", 3, 0.1))).rows == [row("b", 2, 0.3)]
    assert rows_update(before, before).order is None
    swapped = rows_update(before, board(row("b", 1, 0.6), row("a", 2, 0.5), row("c", 3, 0.1)))
    assert swapped.order == ["b", "a", "c"]
    assert [each.system for each in swapped.rows] == ["b", "a"]


def test_what_is_not_a_row_is_sent_if_more_than_counts_have_changed() -> None:
    before = Leaderboard(campaign="c", model="trueskill", sequence=2, offset=1, judgments=2, rows=(), fragility=3)
    later = replace(before, sequence=3, offset=2, judgments=3)
    assert rows_update(before, later).board is None
    pending = replace(later, pending="A judge is being suspended.")
    assert rows_update(before, pending).board == pending


def test_everything_else_is_told_too(monitor: Running) -> None:
    monitor.publish(*crowd_log(20))
    with monitor.events("/campaigns/campaign-0/events") as events:
        first = [next(events).event for _ in range(5)]
        assert first == ["leaderboard", "overview", "requests", "rejections", "findings"]
        monitor.publish(*crowd_log(40)[20:], judgment(99, campaign="campaign-0", ranks=(1,)))
        seen: dict[str, Any] = {}
        while seen.keys() < {"rows", "overview", "history", "rejections"}:
            event = next(events)
            seen[event.event] = event.data
        assert seen["rejections"] == {"total": 1, "reasons": {"length_mismatch": 1}}
        assert seen["overview"]["campaign"] == "campaign-0"
        assert len(seen["history"]["sample"]["scores"]) == len(seen["history"]["systems"])


def test_all_campaigns_are_told_of_and_so_is_the_status(monitor: Running) -> None:
    monitor.publish(judgment(1, campaign="one"))
    with monitor.events("/events") as events:
        assert next(events).data["campaign"] == "one"
        assert until(events, "status").data["streams"] == 1
        monitor.publish(judgment(2, campaign="two"))
        assert until(events, "overview", lambda event: event.data["campaign"] == "two").data["judgments"] == 1
        monitor.publish(judgment(3, campaign="one"))
        assert until(events, "overview", lambda event: event.data["campaign"] == "one").data["judgments"] == 2


def test_a_quiet_stream_is_kept_open(monitor: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "QUIET_SECONDS", 0.05)
    monitor.publish(judgment(1))
    connection = monitor._connection()
    connection.request("GET", "/campaigns/c/events")
    with connection.getresponse() as response:
        lines = iter(response)
        assert next(lines) == b"retry: 2000\n"
        assert next(line for line in lines if line.startswith(b":"))
    connection.close()


def test_a_stream_that_was_left_is_not_counted(monitor: Running) -> None:
    monitor.publish(judgment(1))
    with monitor.events("/campaigns/c/events") as events:
        next(events)
        assert monitor.get("/status")["streams"] == 1
    number = 2
    while monitor.get("/status")["streams"]:
        monitor.publish(judgment(number))  # a connection is known to be gone once something is sent
        number += 1
    assert monitor.site.monitor.campaign_streams["c"] == 0


def test_who_does_not_keep_up_loses_what_waits_and_is_marked() -> None:
    listener = Listener(Viewer())
    for number in range(MOST_WAITING):
        listener.put(b"%d" % number)
    assert not listener.behind
    listener.put(b"last")
    assert listener.behind
    assert listener.waiting == 1


def test_other_work_goes_on_while_thousands_of_listeners_are_written_to() -> None:
    """Count the turns that others get while two channels send."""

    async def send_to(listeners: int) -> int:
        turn = asyncio.Lock()
        busy = [Channel(MonitorMetrics(), turn) for _ in range(2)]
        for channel in busy:
            channel.listeners = {Listener(Viewer()) for _ in range(listeners)}
        sending = [asyncio.create_task(channel.send([StreamEvent("requests", {"count": 1})])) for channel in busy]
        most, turns = 0, 0
        while not all(task.done() for task in sending):
            before = sum(listener.waiting for channel in busy for listener in channel.listeners)
            await asyncio.sleep(0)
            after = sum(listener.waiting for channel in busy for listener in channel.listeners)
            most, turns = max(most, after - before), turns + 1
        assert after == 2 * listeners
        assert most <= AT_ONCE
        return turns

    assert asyncio.run(send_to(500)) >= 2 * 500 / AT_ONCE


def test_streams_end_with_the_monitor(monitor: Running) -> None:
    monitor.publish(judgment(1))
    with monitor.events("/campaigns/c/events") as events:
        next(events)
        monitor.loop.call_soon_threadsafe(monitor.site.hub.close)
        assert all(event.event for event in events)  # it ends
