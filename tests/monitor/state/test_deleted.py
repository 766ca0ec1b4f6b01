"""Archived campaigns are left out of lists, and deleted ones are gone from all that the monitor shows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from streams.monitor.state import deleted
from streams.wire import events
from tests.builders import NOON, judgment
from tests.monitor.site import Running
from tests.waiting import wait_for

LATER = NOON + timedelta(hours=1)
DELETE = events.Delete(id="delete", campaign="c", at=LATER)
ARCHIVE = events.Archive(id="archive", campaign="c", at=LATER)


def listed(monitor: Running, query: str = "") -> list[str]:
    return sorted(each["campaign"] for each in monitor.get(f"/campaigns{query}")["campaigns"])


def test_an_archived_campaign_is_listed_only_if_it_is_asked_for(monitor: Running) -> None:
    monitor.publish(judgment(1), judgment(2, campaign="d"), ARCHIVE)
    wait_for(lambda: listed(monitor) == ["d"])
    wait_for(lambda: listed(monitor, "?state=archived") == ["c"])
    assert monitor.get("/campaigns/c")["state"] == "archived"
    assert len(monitor.get("/campaigns/c/leaderboard")["rows"]) == 2
    answer = monitor.ask("/campaigns?state=gone")
    assert (answer.status, answer.json["error"]["field"]) == (422, "state")


def test_a_deleted_campaign_is_gone_and_so_is_its_history(monitor: Running) -> None:
    monitor.publish(judgment(1), judgment(2, campaign="d"))
    wait_for(lambda: listed(monitor) == ["c", "d"])
    ledger = monitor.site.monitor.backend.ledger
    wait_for(lambda: bool(ledger.samples("c")))
    monitor.publish(DELETE)
    wait_for(lambda: listed(monitor) == ["d"])
    answer = monitor.ask("/campaigns/c/leaderboard")
    assert (answer.status, answer.json["error"]["message"]) == (404, "the campaign 'c' was deleted")
    assert monitor.get("/campaigns/d")["judgments"] == 1
    wait_for(lambda: not ledger.samples("c"))


def test_streams_say_that_a_campaign_is_gone_and_its_own_end(monitor: Running) -> None:
    monitor.publish(judgment(1))
    with monitor.events("/events") as all_campaigns, monitor.events("/campaigns/c/events") as one:
        assert next(one).event == "leaderboard"
        next(all_campaigns)
        monitor.publish(DELETE)
        gone = next(event for event in all_campaigns if event.event == "gone")
        assert gone.data == {"campaign": "c"}
        assert [event.event for event in one if event.event == "leaderboard"] == []  # it ends


@pytest.mark.long
def test_a_campaign_that_is_created_again_is_shown(monitor: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monitor.publish(judgment(1), DELETE)
    wait_for(lambda: listed(monitor) == [])
    monitor.publish(events.Create(id="anew", campaign="c", at=LATER + timedelta(seconds=1)))
    wait_for(lambda: listed(monitor) == ["c"])
    monitor.publish(events.Delete(id="again", campaign="c", at=LATER + timedelta(seconds=2)))
    wait_for(lambda: listed(monitor) == [])
    monkeypatch.setattr(deleted, "LOOK_SECONDS", 0.0)  # a monitor that missed the status looks again
    monitor.publish(events.Create(id="third", campaign="c", at=LATER + timedelta(seconds=3)))
    wait_for(lambda: listed(monitor) == ["c"])
