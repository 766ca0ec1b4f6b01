"""Campaigns are archived and deleted on a real Kafka and a real Redis: nothing of a deleted one is left but its log."""

from __future__ import annotations

from typing import Any

import pytest

from streams.core.campaign.state import TABLES
from streams.wire import topics
from streams.wire.events import encode
from tests.builders import crowd_log, judgment
from tests.integration.stack import Stack, done

pytestmark = pytest.mark.integration

NAME = "campaign-0"
CROWD = crowd_log(60, campaigns=2)


@pytest.fixture
def running(stack: Stack) -> Stack:
    """Return a stack with a worker that has rated two campaigns."""
    stack.start_worker()
    stack.publish([(entry.campaign.encode(), encode(entry)) for entry in CROWD])
    stack.wait_for(lambda: applied(stack, NAME) == 30 and applied(stack, "campaign-1") == 30, "all judgments")
    return stack


def applied(stack: Stack, name: str) -> int:
    meta = stack.store.read_meta(name)
    return 0 if meta is None else meta.counts.judgments


def campaign(stack: Stack, *arguments: str) -> dict[str, Any]:
    return done(stack.command("campaign", *arguments, "--json"))


def listed(stack: Stack, *arguments: str) -> list[str]:
    return [each["campaign"] for each in campaign(stack, "show", *arguments)["campaigns"]]


def reasons(stack: Stack) -> list[tuple[str, str]]:
    found = done(stack.command("rejected", "list", "--json"))["rejections"]
    return [(each["reason"], each["message"]) for each in found]


def test_an_archived_campaign_is_left_out_of_lists_and_can_be_read(running: Stack) -> None:
    assert campaign(running, "archive", NAME)["state"] == "archived"
    assert listed(running) == ["campaign-1"]
    assert listed(running, "--all") == [NAME, "campaign-1"]
    assert listed(running, NAME) == [NAME]
    assert done(running.command("leaderboard", NAME, "--json"))["campaigns"][0]["judgments"] == 30
    running.publish([(NAME.encode(), encode(judgment(999, campaign=NAME)))])
    running.wait_for(
        lambda: ("campaign_closed", f"the campaign {NAME!r} is archived") in reasons(running), "the rejection"
    )


def test_of_a_deleted_campaign_only_the_log_and_a_stub_are_left(running: Stack) -> None:
    unsure = running.command("campaign", "delete", NAME)
    assert unsure.returncode == 2
    assert "30 judgments" in unsure.stderr
    assert "docs/privacy.md" in unsure.stderr
    assert campaign(running, "delete", NAME, "--yes")["state"] == "deleted"
    stored = running.store.read(NAME)
    assert stored is not None
    assert [len(stored.tables[table]) for table in TABLES] == [0] * len(TABLES)
    assert listed(running, "--all") == ["campaign-1"]
    assert "was deleted" in running.command("leaderboard", NAME).stderr
    for topic in (topics.CAMPAIGNS, topics.LEADERBOARDS, topics.RATINGS):
        records = [record for records in running.read(topic).values() for record in records]
        newest = {record.key: record.value for record in records if (record.key or b"").startswith(NAME.encode())}
        assert newest, topic.name
        assert set(newest.values()) == {None}, topic.name
    running.publish([(NAME.encode(), encode(judgment(999, campaign=NAME)))])
    running.wait_for(lambda: any("was deleted" in message for _, message in reasons(running)), "the rejection")
    again = running.command("campaign", "delete", NAME, "--yes")
    assert again.returncode == 1
    assert campaign(running, "create", NAME)["state"] == "open"
    running.publish([(NAME.encode(), encode(entry)) for entry in CROWD[:10:2]])
    running.wait_for(lambda: applied(running, NAME) == 5, "the judgments of the new campaign")
    report = done(running.command("rebuild", "--all", "--dry-run", "--json"))
    assert all(not each["differences"] and not each["head"] for each in report["partitions"])
