"""Judges who collude, on a real Kafka and a real Redis: a worker suspends them, or an operator does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.pipeline.embedded import Embedded
from streams.wire import topics
from streams.wire.events import Change, Leaderboard, SuspendJudges, encode
from tests.builders import NOON
from tests.integration.monitors import monitor_on
from tests.integration.stack import done
from tests.integration.test_rebuild import expected_hash, found_hash
from tests.pipeline.test_suspensions import COLLUDERS, crowd

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.wire.events import Row
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

BAD_VOTES = sum(each.judge in COLLUDERS for each in crowd())


def begin(stack: Stack, *, script: str | None = None, **modes: str) -> None:
    """Start a worker, let it read the same votes in several campaigns, and then set `suspend_judges` of each."""
    votes = [each for name in modes for each in crowd(name)]
    stack.publish([(each.campaign.encode(), encode(each)) for each in votes])
    stack.start_worker(script=script)
    stack.wait_until_read(len(votes))
    for name, mode in modes.items():
        change = Change(id=f"change-{name}", campaign=name, at=NOON, settings={"suspend_judges": mode})
        stack.publish([(name.encode(), encode(change))])


def pseudonyms(stack: Stack) -> list[str]:
    known = Pseudonyms(stack.settings.judge_key.encode())
    return sorted(known[judge] for judge in COLLUDERS)


def suspended(stack: Stack, name: str) -> list[str]:
    """Return who is suspended in a campaign, once it has been rated again."""
    meta = stack.store.read_meta(name)
    return [] if meta is None or meta.status.quarantine is not None else sorted(meta.status.suspended)


def votes_left_out(stack: Stack, name: str) -> int:
    meta = stack.store.read_meta(name)
    return -1 if meta is None or meta.status.quarantine is not None else meta.counts.suspended


def rows_of(stack: Stack, name: str, *, without: tuple[str, ...] = ()) -> list[Row]:
    """Return the rows of a board of the same votes, rated in process."""
    stream = Embedded(stack.settings)
    for each in crowd(name):
        if each.judge not in without:
            stream.publish(each)
    stream.run()
    return list(stream.campaign(name).leaderboard().rows)


def board(stack: Stack, name: str) -> Leaderboard:
    (found,) = msgspec.convert(done(stack.command("leaderboard", name, "--json"))["campaigns"], list[Leaderboard])
    return found


def published_board(stack: Stack, name: str, is_awaited: Callable[[Leaderboard], bool]) -> Leaderboard:
    """Wait until the newest leaderboard that was published is the one that is awaited, and return it."""

    def newest() -> list[Leaderboard]:
        boards = (msgspec.json.decode(value, type=Leaderboard) for value in stack.values(topics.LEADERBOARDS) if value)
        return [each for each in boards if each.campaign == name][-1:]

    stack.wait_for(lambda: any(map(is_awaited, newest())), "the board is published")
    return newest()[0]


def about_judges(board: Leaderboard) -> list[str]:
    return [each.message for each in board.cautions if each.code == "flagged_judges"]


def suspensions(stack: Stack) -> list[SuspendJudges]:
    """Return the commands in the log that suspend judges."""
    return [
        msgspec.json.decode(value, type=SuspendJudges)
        for value in stack.values(topics.JUDGMENTS)
        if msgspec.json.decode(value).get("action") == "suspend"
    ]


def test_a_worker_suspends_colluders_and_reinstate_brings_them_back(stack: Stack) -> None:
    begin(stack, auto="auto", propose="propose", off="off")
    stack.wait_for(lambda: suspended(stack, "auto") == pseudonyms(stack), "the colluders are suspended")
    (command,) = suspensions(stack)
    assert (command.campaign, command.by) == ("auto", "judgestream")
    assert "the other judges' votes predict" in command.reason
    shown = board(stack, "auto")
    assert list(shown.rows) == rows_of(stack, "auto", without=COLLUDERS)
    assert shown.left_out["suspended"] == BAD_VOTES
    assert published_board(stack, "auto", lambda each: each.rows == shown.rows).left_out == shown.left_out
    assert found_hash(stack) == expected_hash(stack), "a replay of the log gives the same state"

    judges = [option for judge in pseudonyms(stack) for option in ("--judge", judge)]
    reinstated = stack.command("campaign", "reinstate", "auto", *judges, "--yes")
    assert reinstated.returncode == 0, reinstated.stderr
    stack.wait_for(lambda: votes_left_out(stack, "auto") == 0, "the campaign is rated with all votes")
    assert suspended(stack, "auto") == []
    assert list(board(stack, "auto").rows) == rows_of(stack, "auto")

    assert [suspended(stack, name) for name in ("propose", "off")] == [[], []]
    assert len(suspensions(stack)) == 1
    assert found_hash(stack) == expected_hash(stack)


def test_a_proposal_is_shown_and_an_operator_checks_and_suspends(stack: Stack) -> None:
    begin(stack, propose="propose")
    views = done(stack.command("judges", "propose", "--json"))["judges"]
    assert sorted(view["judge"] for view in views if view["suspicious"]) == pseudonyms(stack)
    (caution,) = about_judges(published_board(stack, "propose", lambda each: bool(about_judges(each))))
    assert caution.startswith("2 judges are flagged")
    with monitor_on(stack) as monitor:
        stack.wait_for(monitor.is_ready, "the monitor is ready")
        cautions = monitor.get("/campaigns/propose/leaderboard")["cautions"]
    assert [each["message"] for each in cautions if each["code"] == "flagged_judges"] == [caution]
    assert (suspended(stack, "propose"), suspensions(stack)) == ([], [])

    (report,) = done(stack.command("judges", "propose", "--check", "--json"))["campaigns"]
    assert [judge["judge"] for judge in report["flagged"]] == pseudonyms(stack)
    assert list(board(stack, "propose").rows) == rows_of(stack, "propose"), "a check alone changes nothing"

    done_by_hand = stack.command("judges", "propose", "--check", "--suspend", "--yes")
    assert done_by_hand.returncode == 0, done_by_hand.stderr
    assert "suspended 2 judges" in done_by_hand.stdout
    stack.wait_for(lambda: suspended(stack, "propose") == pseudonyms(stack), "the colluders are suspended")
    shown = board(stack, "propose")
    assert list(shown.rows) == rows_of(stack, "propose", without=COLLUDERS)
    assert shown.left_out["suspended"] == BAD_VOTES
    again = stack.command("judges", "propose", "--check", "--suspend", "--yes")
    assert (again.returncode, "there is nobody to suspend" in again.stdout) == (0, True)
    assert found_hash(stack) == expected_hash(stack)
