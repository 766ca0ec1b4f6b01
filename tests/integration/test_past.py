"""The leaderboard of the past, from a real Kafka: it is what the worker had published, to the last bit."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.wire import events, topics
from streams.wire.events import Leaderboard, encode
from tests.builders import NOON, crowd_log

if TYPE_CHECKING:
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

NAME = "campaign-0"


def send(stack: Stack, *entries: events.Judgment | events.Command) -> None:
    """Publish events, wait until they are applied, and leave the worker the time to publish the leaderboards."""
    before = stack.records_read()
    stack.publish([(each.campaign.encode(), encode(each)) for each in entries])
    stack.wait_until_read(before + len(entries))
    last = stack.store.read_meta(NAME)
    assert last is not None
    stack.wait_for(lambda: any(board.offset == last.offset for board in boards(stack)), "the leaderboard is published")


def boards(stack: Stack) -> list[Leaderboard]:
    """Return all leaderboards of the campaign that the worker has published, whole."""
    found = [record for records in stack.read(topics.LEADERBOARDS).values() for record in records]
    mine = [
        msgspec.json.decode(each.value, type=Leaderboard) for each in found if each.key == NAME.encode() and each.value
    ]
    return [board for board in mine if board.pending is None]


def shown(stack: Stack, at: str) -> bytes:
    """Return the leaderboard that the command prints, as it would be published."""
    done = stack.command("leaderboard", NAME, "--json", "--at", at)
    assert done.returncode == 0, done.stderr
    (board,) = msgspec.convert(json.loads(done.stdout)["campaigns"], list[Leaderboard])
    return encode(board)


def test_the_board_at_an_offset_or_a_time_is_the_one_that_was_published(stack: Stack) -> None:
    log = crowd_log(260, campaigns=2, ways=3)
    mine = [each for each in log if each.campaign == NAME]
    judge = "~" + Pseudonyms(stack.settings.judge_key.encode())[mine[0].judge]
    stack.start_worker()
    settings = events.CampaignSettings(model="trueskill-judges", outstanding=3)
    send(stack, events.Create(id="create", campaign=NAME, at=NOON, settings=settings), *log[:80])
    send(stack, *log[80:120])
    middle = datetime.now(UTC)
    send(stack, events.Retract(id="r", campaign=NAME, at=NOON, judgments=(mine[1].id, mine[4].id)), *log[120:180])
    send(stack, events.SuspendJudges(id="s", campaign=NAME, at=NOON, judges=(judge,)), *log[180:])
    published = boards(stack)
    assert len(published) >= 4
    for board in published:
        assert shown(stack, str(board.offset)) == encode(board)
    early = [board for board in published if board.sequence <= 62]  # a command, and the half of 120 judgments
    assert shown(stack, middle.isoformat()) == encode(max(early, key=lambda board: board.sequence))
    assert shown(stack, f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}") == encode(published[-1])
    state = stack.store.read(NAME)
    stack.command("leaderboard", NAME, "--at", "20")
    assert stack.store.read(NAME) == state


def test_a_judge_has_a_board_of_their_own(stack: Stack) -> None:
    log = crowd_log(120, campaigns=2, ways=3)
    mine = [each for each in log if each.campaign == NAME]
    judge = mine[0].judge
    own = [each for each in mine if each.judge == judge]
    pseudonym = Pseudonyms(stack.settings.judge_key.encode())[judge]
    stack.start_worker()
    settings = events.CampaignSettings(judge_share=0.2)
    retract = events.Retract(id="r", campaign=NAME, at=NOON, judgments=(own[0].id,))
    send(stack, events.Create(id="create", campaign=NAME, at=NOON, settings=settings), *log, retract)
    for given in (judge, pseudonym):
        done = stack.command("leaderboard", NAME, "--json", "--judge", given)
        assert done.returncode == 0, done.stderr
        assert f"the judge {pseudonym}" in done.stderr
        (board,) = json.loads(done.stdout)["campaigns"]
        assert (board["judgments"], board["judges"]) == (len(own) - 1, 1)
    unknown = stack.command("leaderboard", NAME, "--judge", "nobody")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "has no such judge" in unknown.stderr


def test_what_can_t_be_shown_is_one_line(stack: Stack) -> None:
    stack.start_worker()
    send(stack, *crowd_log(10))
    for at, name, code, said in (
        ("99999", NAME, 2, "at: the offset 99999 is not in the log; the last one of"),
        ("2019-01-01", NAME, 1, f"has no record of the campaign '{NAME}' up to offset -1"),
        ("2", "campaign-9", 1, "no campaign 'campaign-9'; did you mean 'campaign-0'?"),
    ):
        done = stack.command("leaderboard", name, "--at", at)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert said in done.stderr
    text = stack.command("leaderboard", NAME, "--at", "9").stdout
    assert "up to offset 9 of" in text
    without = stack.command("leaderboard", NAME, "--at", "9", JUDGESTREAM_JUDGE_KEY="")
    assert without.returncode == 1
    assert "judge_key is not set" in without.stderr
