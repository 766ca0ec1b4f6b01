"""A worker tests the judges of a campaign and suspends those who are flagged, by a command in the log."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.core.judges import FlaggedJudge, JudgeReport, Reason, Votes, examine_judges
from streams.pipeline.embedded import Embedded
from streams.pipeline.judge_check import CampaignVotes
from streams.pipeline.suspensions import is_due, make_suspension, may_suspend
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import CampaignSettings, Create, Judgment, ReinstateJudges, SuspendJudges, encode
from streams.worker import judge_checks
from tests.builders import NOON, judgment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.core.judges.judge_tests import Kind
    from streams.wire.events import Command
    from streams.wire.outputs import Output

SETTINGS = Settings(judge_key="key", snapshot_judgments=0)
COLLUDERS = ("bad-1", "bad-2")


def pseudonym(judge: str) -> str:
    return Pseudonyms(b"key")[judge]


def crowd(name: str = "c") -> list[Judgment]:
    """Draw votes of honest judges, and of two who always vote for the worst system in matches that they choose."""
    random, log = np.random.default_rng(1), []
    for number in range(1200):
        a, b = (int(i) for i in random.choice(6, size=2, replace=False))
        judge = f"judge-{number % 20}"
        first = random.normal(a - b) < 0
        if number % 10 == 0:
            a, b, judge, first = 5, int(random.integers(5)), COLLUDERS[number // 10 % 2], True
        ranks = (1, 2) if first else (2, 1)
        log.append(judgment(number, campaign=name, systems=(f"s-{a}", f"s-{b}"), ranks=ranks, judge=judge))
    return log


def streamed(log: Sequence[Judgment | Command]) -> Embedded:
    stream = Embedded(SETTINGS)
    for event in log:
        stream.publish(event)
    stream.run()
    return stream


def create(name: str = "c") -> Create:
    return Create(id="create", campaign=name, at=NOON, settings=CampaignSettings(suspend_judges="auto"))


def examined(stream: Embedded, name: str = "c") -> SuspendJudges | None:
    meta = stream.campaign(name).meta
    votes = CampaignVotes(name, Pseudonyms(b"key"), meta.retractions.ids)
    votes.read(stream.log.all(topics.JUDGMENTS.name), max_bytes=1_000_000)
    return make_suspension(votes.examine(), meta, at=NOON)


def test_those_who_vote_for_one_system_are_suspended_and_the_board_is_that_of_the_others() -> None:
    log: list[Any] = [create(), *crowd()]
    stream = streamed(log)
    command = examined(stream)
    assert command is not None
    assert sorted(command.judges) == sorted(f"~{pseudonym(judge)}" for judge in COLLUDERS)
    assert "the other judges' votes predict" in command.reason
    stream.publish(command)
    stream.run()
    honest = streamed([create(), *(each for each in crowd() if each.judge not in COLLUDERS)])
    assert stream.campaign("c").leaderboard().rows == honest.campaign("c").leaderboard().rows
    assert examined(stream) is None, "those who are suspended already are not suspended again"


def test_who_was_reinstated_by_an_operator_is_left_alone() -> None:
    judges = tuple(f"~{pseudonym(judge)}" for judge in COLLUDERS)
    suspend = SuspendJudges(id="s", campaign="c", at=NOON, judges=judges)
    reinstate = ReinstateJudges(id="r", campaign="c", at=NOON, judges=judges[:1])
    assert examined(streamed([create(), *crowd(), suspend, reinstate])) is None


def flagging(kinds: Sequence[Kind], *, tested: int) -> JudgeReport:
    """Return a report that flags one judge for each kind of reason."""
    flagged = [
        FlaggedJudge(judge=f"j{k}", judgments=30, reasons=(Reason(kind=kind, message="did so", strength=2.0),))
        for k, kind in enumerate(kinds)
    ]
    return replace(examine_judges(Votes.of([])), tested=tested, flagged=tuple(flagged))


def test_speed_and_many_ties_suspend_nobody() -> None:
    meta = streamed([create(), judgment(1)]).campaign("c").meta
    command = make_suspension(flagging(["fast", "often_ties", "ties", "first"], tested=20), meta, at=NOON)
    assert command is not None
    assert command.judges == ("~j2", "~j3")
    assert make_suspension(flagging(["fast", "often_ties"], tested=20), meta, at=NOON) is None


@pytest.mark.parametrize(("tested", "suspended"), [(4, True), (3, False)])
def test_if_more_than_half_of_the_judges_are_flagged_nobody_is_suspended(tested: int, suspended: bool) -> None:
    meta = streamed([create(), judgment(1)]).campaign("c").meta
    assert (make_suspension(flagging(["first", "second"], tested=tested), meta, at=NOON) is not None) == suspended


def test_the_same_place_in_the_log_gives_the_same_id() -> None:
    one, other = (examined(streamed([create(), *crowd()])) for _ in range(2))
    assert one is not None
    assert other is not None
    assert one.id == other.id


@pytest.mark.parametrize(
    ("judgments", "tested", "due"),
    [(199, 0, False), (200, 0, True), (10_900, 10_000, False), (11_000, 10_000, True)],
)
def test_a_test_is_due_when_the_campaign_has_grown(judgments: int, tested: int, due: bool) -> None:
    assert is_due(judgments, tested=tested) == due


@pytest.mark.parametrize(("mode", "suspends"), [("auto", True), ("propose", False), ("off", False)])
def test_a_campaign_suspends_judges_by_itself_only_if_its_setting_says_so(mode: Any, suspends: bool) -> None:
    status = streamed([create(), judgment(1)]).campaign("c").status
    status = msgspec.structs.replace(status, settings=CampaignSettings(suspend_judges=mode))
    assert may_suspend(status) == suspends
    assert not may_suspend(msgspec.structs.replace(status, state="closed"))


def test_a_campaign_that_rests_in_the_store_is_tested_too() -> None:
    stream = streamed([create(), *crowd(), judgment(1, campaign="other")])
    (processor,) = Embedded(SETTINGS, store=stream.store).processors
    assert processor.campaigns == {}, "an opened partition loads nothing"
    assert processor.suspending() == {"c": 1200}
    assert processor.read_meta("c") == stream.campaign("c").meta
    processor.load("c")
    assert processor.suspending() == {"c": 1200}
    processor.rest(0.0)
    processor.rest(1e9)
    assert (processor.campaigns, processor.suspending()) == ({}, {"c": 1200})


class Worker:
    """The parts of a worker that the service needs, around an embedded stream."""

    def __init__(self, stream: Embedded) -> None:
        self.sent: list[Output] = []
        (processor,) = stream.processors
        self._ownership = SimpleNamespace(processor=processor, is_open=True, partition=("p", 0), log_fields=dict)
        self._records = stream.log.all(topics.JUDGMENTS.name)

    def open_ownerships(self) -> list[Any]:
        return [self._ownership]

    async def ask(self, _: object, read: Callable[[], object]) -> object:
        return read()

    async def ask_all(self, ownerships: Sequence[Any], read: Callable[[Any], object]) -> list[tuple[Any, object]]:
        return [(each, read(each.processor)) for each in ownerships]

    async def emit(self, outputs: Sequence[Output]) -> None:
        self.sent += outputs

    async def read(self, _: object, votes: CampaignVotes, *, until: int) -> None:
        if votes.campaign == "broken":
            raise ValueError("it can't be tested")
        votes.read(self._records[:until], max_bytes=1_000_000)


def test_the_service_sends_a_command_once_and_trouble_with_one_campaign_stops_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log: list[Any] = [create("broken"), *crowd("broken"), create(), *crowd()]
    stream = streamed(log)
    worker = Worker(stream)
    service = judge_checks.JudgeChecks(SETTINGS, worker, worker)  # type: ignore[arg-type]
    monkeypatch.setattr(service, "_read", worker.read)
    asyncio.run(service.check_due())
    asyncio.run(service.check_due())
    ((topic, key, value),) = [(output.topic, output.key, output.value) for output in worker.sent]
    assert (topic, key) == (topics.COMMANDS.name, b"c")
    assert len(msgspec.json.decode(value, type=SuspendJudges).judges) == 2
    assert encode(msgspec.json.decode(value, type=SuspendJudges)) == value
