"""An unexpected error in one campaign: the monitor shows it, goes on with the others, and tells whether it is ready."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.core.models import MODELS
from streams.monitor.backends.embedded import EmbeddedBackend
from streams.monitor.ledger.memory import MemoryLedger
from streams.monitor.state.monitor import Monitor
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.wire import events
from streams.wire.events import CampaignSettings, Leaderboard
from tests.builders import NOON, judgment
from tests.faulty_model import faulty
from tests.monitor.site import Running, running
from tests.waiting import wait_for

SYSTEMS = ("a", "b", "c", "d", "e")


@pytest.fixture
def quarantined(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A monitor of a campaign that is quarantined and one that is not."""
    monkeypatch.setitem(MODELS, "faulty", faulty("apply"))
    with running() as monitor:
        for name in ("sick", "well"):
            settings = CampaignSettings(model="faulty", systems=SYSTEMS)
            monitor.publish(events.Create(id=f"create-{name}", campaign=name, at=NOON, settings=settings))
            monitor.publish(judgment(1, campaign=name))
        assert shown(monitor, "sick")["quarantine"] is None
        monitor.publish(judgment(2, campaign="sick", systems=("a", "e")), judgment(3, campaign="sick"))
        yield monitor


def shown(monitor: Running, name: str) -> Any:
    (found,) = [each for each in monitor.get("/campaigns")["campaigns"] if each["campaign"] == name]
    return found


def test_a_quarantine_is_in_the_overview_with_its_place_and_the_neighbour_goes_on(quarantined: Running) -> None:
    with quarantined.events("/events"):  # somebody looks at the list of all campaigns
        wait_for(lambda: shown(quarantined, "sick")["quarantine"] is not None)
    found = shown(quarantined, "sick")
    assert found["quarantine"]["offset"] == 4
    assert found["quarantine"]["error"].startswith("ZeroDivisionError: the model fails in apply")
    assert (found["judgments"], found["held"], found["problem"]) == (1, 2, None)
    quarantined.publish(judgment(4, campaign="well"))
    wait_for(lambda: quarantined.get("/campaigns/well")["judgments"] == 2)
    assert shown(quarantined, "well")["quarantine"] is None
    board = quarantined.get("/campaigns/sick/leaderboard")
    assert (board["judgments"], board["offset"]) == (1, 3)
    assert quarantined.ask("/readyz").status == 200


def test_the_intake_refuses_a_quarantined_campaign_with_the_way_out(quarantined: Running) -> None:
    wait_for(lambda: quarantined.get("/campaigns/sick")["quarantine"] is not None)
    body = {"id": "9", "segment": "s", "judge": "j", "systems": ["a", "b"], "ranks": [1, 2]}
    for answer in (
        quarantined.post("/campaigns/sick/judgments", body),
        quarantined.post("/campaigns/sick/next-match", {"judge": "ann"}),
    ):
        assert answer.status == 409, answer
        assert answer.json["error"]["reason"] == "campaign_quarantined"
        assert "judgestream rebuild sick" in answer.json["error"]["message"]
    assert quarantined.post("/campaigns/well/judgments", body).status == 202


def break_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    ranking = ReadOnlyCampaign.leaderboard

    def leaderboard(campaign: ReadOnlyCampaign) -> Leaderboard:
        if campaign.name == "sick" and type(campaign) is ReadOnlyCampaign:
            raise ZeroDivisionError("cannot rank")
        return ranking(campaign)

    monkeypatch.setattr(ReadOnlyCampaign, "leaderboard", leaderboard)


def test_a_campaign_that_the_monitor_cannot_compute_is_marked_and_following_goes_on(
    monitor: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as broken:
        break_reading(broken)
        monitor.publish(judgment(1, campaign="sick"), judgment(1, campaign="well"))
        wait_for(lambda: shown(monitor, "sick")["problem"] is not None)
        found = shown(monitor, "sick")
        assert found["problem"].startswith("ZeroDivisionError: cannot rank, in tests.")
        assert (found["state"], found["judgments"]) == ("open", 1)
        answer = monitor.ask("/campaigns/sick/leaderboard")
        assert (answer.status, answer.json["error"]["reason"]) == (500, "internal_error")
        assert "ZeroDivisionError" in answer.json["error"]["message"]
        assert monitor.get("/campaigns/well/leaderboard")["judgments"] == 1
        assert monitor.ask("/readyz").status == monitor.ask("/healthz").status == 200
        logged = [each for each in caplog.records if each.name.endswith("watched") and each.levelno == logging.ERROR]
        assert len(logged) == 1
        assert logged[0].exc_info is not None
    assert monitor.get("/campaigns/sick/leaderboard")["judgments"] == 1
    wait_for(lambda: shown(monitor, "sick")["problem"] is None)


def test_a_fault_in_the_history_of_one_campaign_does_not_end_the_following(
    monitor: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = MemoryLedger.add_sample

    def add_sample(ledger: MemoryLedger, campaign: str, sample: Any) -> bool:
        if campaign == "sick":
            raise ZeroDivisionError("no history")
        return add(ledger, campaign, sample)

    monkeypatch.setattr(MemoryLedger, "add_sample", add_sample)
    monitor.publish(judgment(1, campaign="sick"), judgment(1, campaign="well"))
    ledger = monitor.site.monitor.backend.ledger
    wait_for(lambda: "no history" in (shown(monitor, "sick")["problem"] or ""))
    wait_for(lambda: len(ledger.samples("well")) > 0)
    assert monitor.ask("/readyz").status == 200


def test_a_monitor_whose_task_has_ended_is_not_ready_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    async def end(_: Monitor) -> None:
        raise ZeroDivisionError("nothing is followed")

    monkeypatch.setattr(Monitor, "_follow", end)
    with running(backend=EmbeddedBackend(Embedded(Settings()))) as monitor:
        answer = monitor.ask("/readyz")
        assert answer.status == 503
        assert b"Following has ended: ZeroDivisionError('nothing is followed')" in answer.body
        assert monitor.ask("/healthz").status == 503
        assert monitor.get("/status")["ready"] is False
