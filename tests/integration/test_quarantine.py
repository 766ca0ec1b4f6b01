"""A worker whose code fails on one campaign: the others go on, everybody is told, and a repaired version catches up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from click.testing import CliRunner, Result

from deploy.ports import free_port
from streams.cli.main import cli
from streams.core.models import MODELS
from streams.kafka.partitions import partition_of
from streams.wire import topics
from streams.wire.events import CampaignStatus, encode
from tests.builders import judgment
from tests.faulty_model import faulty
from tests.integration.monitors import monitor_on
from tests.integration.test_health import asked
from tests.integration.test_rebuild import expected_hash, found_hash

if TYPE_CHECKING:
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

# Judgestream with a model that fails on the fifth system of a campaign.
FAULTY = """
from streams.cli.main import main
from streams.core.models import MODELS
from tests.faulty_model import faulty

MODELS["trueskill"] = faulty("apply", name="trueskill")
main()
"""
ROOT = str(Path(__file__).parents[2])
SICK = "sick"


def neighbour(stack: Stack) -> str:
    """Return a campaign on the partition of the sick one."""
    count = stack.settings.partitions
    return next(name for name in map(str, range(100)) if partition_of(name, count) == partition_of(SICK, count))


def publish(stack: Stack, start: int, end: int, *names: str) -> None:
    systems = ("a", "b", "c", "d")
    entries = [
        judgment(number, campaign=name, systems=(systems[number % 4], systems[(number + 1) % 4]))
        for number in range(start, end)
        for name in names
    ]
    stack.publish([(entry.campaign.encode(), encode(entry)) for entry in entries])


def invoke(stack: Stack, *arguments: str) -> Result:
    """Run a command of the repaired version in this process."""
    return CliRunner().invoke(cli, arguments, env=stack.environment)


def test_a_fault_in_one_campaign_stops_nobody_else_and_a_rebuild_ends_it(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, well = free_port(besides=()), neighbour(stack)
    more = {"PYTHONPATH": ROOT, "JUDGESTREAM_HEALTH_PORT": str(port)}
    worker = stack.start_worker(script=FAULTY, **more)
    publish(stack, 0, 100, SICK, well)
    stack.publish([(SICK.encode(), encode(judgment(1000, campaign=SICK, systems=("a", "e"))))])
    publish(stack, 100, 150, SICK, well)
    stack.wait_until_read(301)

    with monkeypatch.context() as broken:  # an embedded run with the same fault, in one batch
        broken.setitem(MODELS, "trueskill", faulty("apply", name="trueskill"))
        assert found_hash(stack) == expected_hash(stack)
    meta = stack.store.read_meta(SICK)
    assert meta is not None
    assert meta.status.quarantine is not None
    assert meta.status.quarantine.offset == 200
    assert (meta.counts.judgments, meta.counts.held) == (100, 51)
    assert (stack.store.read_meta(well) or meta).counts.judgments == 150
    ready = f"ok, but 1 campaign is quarantined: {SICK}. Update Judgestream, then run: judgestream rebuild NAME"
    stack.wait_for(lambda: asked(port, "/readyz") == (200, ready), f"ready: {asked(port, '/readyz')}")
    assert asked(port, "/healthz") == (200, "ok")
    metrics = asked(port, "/metrics")[1]
    assert "judgestream_worker_quarantined_campaigns 1.0" in metrics
    assert 'judgestream_worker_records_total{outcome="held"} 51.0' in metrics
    assert worker.said("ZeroDivisionError: the model fails in apply")
    assert worker.said("Traceback")
    (status,) = [
        found
        for value in stack.values(topics.CAMPAIGNS)
        if (found := msgspec.json.decode(value, type=CampaignStatus)).quarantine is not None
    ]
    assert status.campaign == SICK

    told = invoke(stack, "campaign", "pause", SICK)
    assert told.exit_code == 1
    assert "the command waits in the log" in told.output
    assert f"judgestream rebuild {SICK}" in told.output
    assert "quarantined" in invoke(stack, "campaign", "show", SICK).output
    doctor = invoke(stack, "doctor")
    assert doctor.exit_code == 1
    assert f"1 of 2 with a problem: {SICK} (quarantined: ZeroDivisionError" in doctor.output
    assert "quarantined" in invoke(stack, "leaderboard", SICK).output

    with monkeypatch.context() as broken:
        broken.setitem(MODELS, "trueskill", faulty("apply", name="trueskill"))
        again = invoke(stack, "rebuild", SICK, "--yes")
    assert again.exit_code == 1, again.output
    assert f"✗ {SICK}: this version fails on it" in again.output

    worker.terminate()
    repaired = stack.start_worker(**more)
    stack.wait_for(lambda: asked(port, "/readyz") == (200, ready), "the quarantine after a restart")
    with monitor_on(stack) as monitor:
        stack.wait_for(monitor.is_ready, "the monitor is ready")
        overview = monitor.get(f"/campaigns/{SICK}")
        assert overview["quarantine"]["offset"] == 200
        assert (overview["held"], overview["judgments"]) == (52, 100)

        rebuilt = invoke(stack, "rebuild", SICK, "--yes")
        assert rebuilt.exit_code == 0, rebuilt.output
        assert f"✓ {SICK}: all its records can be rated now; its quarantine has ended" in rebuilt.output
        publish(stack, 150, 200, SICK, well)
        stack.wait_until_read(402)
        stack.wait_for(lambda: asked(port, "/readyz") == (200, "ok"), "ready without a quarantine")
        stack.wait_for(lambda: monitor.get(f"/campaigns/{SICK}")["judgments"] == 201, "the monitor shows it")
        overview = monitor.get(f"/campaigns/{SICK}")
        assert (overview["quarantine"], overview["held"], overview["state"]) == (None, 0, "paused")
    assert found_hash(stack) == expected_hash(stack)
    assert "paused" in invoke(stack, "campaign", "show", SICK).output
    assert repaired.process.poll() is None
