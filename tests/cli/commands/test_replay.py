"""`judgestream replay`: the log on its way, and the way without servers."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from streams.cli.commands import rank, replay
from streams.cli.replay_log import read_rounds
from streams.cli.replay_schedule import ReplaySchedule
from streams.errors import BrokerUnavailable
from streams.replay.published_log import PublishedLog, digest
from streams.wire.events import EPOCH, Judgment, encode
from tests.builders import crowd_log, judgment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return written(tmp_path, crowd_log(300, campaigns=2, ways=3))


def written(folder: Path, judgments: Sequence[Judgment], name: str = "log.jsonl") -> Path:
    file = folder / name
    file.write_bytes(b"".join(encode(each) + b"\n" for each in judgments))
    return file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(replay.command, [str(each) for each in arguments])


def directly(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--direct", "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


# -- directly ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["trueskill", "grm"])
def test_directly_it_gives_what_rank_gives(log: Path, model: str) -> None:
    ranked = CliRunner().invoke(rank.command, [str(log), "--json", "--model", model])
    assert directly(log, "--setting", f"model={model}")["campaigns"] == json.loads(ranked.stdout)["campaigns"]


def test_every_judgment_ends_as_applied_duplicate_or_rejected(tmp_path: Path) -> None:
    judgments = crowd_log(50, systems=3)
    strange = judgment(1000, campaign="campaign-0", systems=("system-0", "stranger"))
    file = written(tmp_path, [*judgments, *judgments[:7], strange])
    found = directly(file, "--setting", "systems=system-0,system-1,system-2")
    assert found["replay"] == {"read": 58, "there": 0, "sent": 0, "applied": 50, "duplicate": 7, "rejected": 1}


def test_people_get_the_leaderboards_and_the_account(log: Path) -> None:
    result = run(log, "--direct")
    assert result.stdout.startswith("campaign-0  trueskill, 150 judgments, ")
    assert "300 read, 0 there, 0 sent, 300 applied, 0 duplicate, 0 rejected" in result.stderr


def test_an_interrupt_ends_with_a_sentence_and_no_traceback(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    result = run(log, "--direct", "--rate", "1")
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "Stopped. 300 judgments were read; nothing is kept.\n"


# -- names -------------------------------------------------------------------------------------------------


def names(found: dict[str, Any]) -> list[str]:
    return [board["campaign"] for board in found["campaigns"]]


def test_the_only_campaign_is_renamed(tmp_path: Path) -> None:
    file = written(tmp_path, crowd_log(20))
    assert names(directly(file, "--campaign", "new")) == ["new"]


def test_of_several_campaigns_the_named_ones_are_renamed(log: Path) -> None:
    assert names(directly(log, "--campaign", "campaign-1=a-new")) == ["a-new", "campaign-0"]
    both = ("--campaign", "campaign-1=one", "--campaign", "campaign-0=zero")
    assert names(directly(log, *both)) == ["one", "zero"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--campaign", "new"], "has 2 campaigns; write OLD=new"),
        (["--campaign", "campaign-2=new"], "no campaign 'campaign-2' in the log; did you mean 'campaign-"),
        (["--campaign", "campaign-1=a new"], "a campaign name has"),
        (["--campaign", "campaign-1=campaign-0"], "two campaigns would get the same name"),
        (["--speed", "fast"], "'fast' is not a speed"),
        (["--speed", "0x"], "'0x' is not a speed"),
        (["--rate", "0"], "Invalid value for '--rate'"),
        (["--setting", "modle=grm"], "no setting 'modle'; did you mean 'model'?"),
        (["--setting", "model=gmr"], "no model 'gmr'; did you mean 'grm'?"),
        (["--setting", "replicas=7"], "`replicas` is 7"),
    ],
)
def test_wrong_use_is_exit_code_2_and_says_what_is_right(log: Path, arguments: list[str], words: str) -> None:
    result = run(log, "--direct", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_standard_input_gets_the_campaign_that_is_named() -> None:
    arena = "model_a,model_b,winner,judge,segment\nx,y,model_a,j,s\n"
    result = CliRunner().invoke(replay.command, ["-", "--direct", "--json", "--campaign", "new"], input=arena)
    assert result.exit_code == 0, result.output
    assert [board["campaign"] for board in json.loads(result.stdout)["campaigns"]] == ["new"]


@pytest.mark.parametrize("option", [["--loop"], ["--campaign", "old=new"]])
def test_what_reads_the_file_twice_does_not_take_standard_input(option: list[str]) -> None:
    result = run("-", "--direct", *option)
    assert result.exit_code == 2
    assert "can be read only once" in " ".join(result.stderr.split())


# -- rounds ------------------------------------------------------------------------------------------------


def looped(judgments: Sequence[Judgment], count: int) -> list[Judgment]:
    rounds = read_rounds(lambda: iter([judgments[:3], judgments[3:]]), loop=True)
    return [each for batch in islice(rounds, count) for each in batch]


def test_each_round_has_ids_of_its_own_and_times_after_the_last_one() -> None:
    judgments = crowd_log(5)
    found = looped(judgments, 6)
    assert [each.id for each in found] == [f"id-{n}{mark}" for mark in ("", "~2", "~3") for n in range(5)]
    assert len({each.id for each in found}) == 15
    assert [each.at - judgments[0].at for each in found] == [timedelta(seconds=second) for second in range(15)]
    assert [each.ranks for each in found] == 3 * [each.ranks for each in judgments]


def test_rounds_are_the_same_in_every_run() -> None:
    judgments = crowd_log(5)
    assert looped(judgments, 6) == looped(judgments, 6)


def test_a_long_id_stays_one_that_the_contract_takes() -> None:
    long = [judgment(k) for k in range(4)]
    long = [
        Judgment(**{f: getattr(each, f) for f in each.__struct_fields__} | {"id": f"{each.id:x>200}"}) for each in long
    ]
    found = looped(long, 6)
    assert {len(each.id) for each in found} == {200}
    assert len({each.id for each in found}) == 12


def test_the_rounds_end_before_the_last_time_that_is_accepted() -> None:
    far = [judgment(1, at=EPOCH), judgment(2, at=EPOCH + timedelta(days=365 * 3000))]
    assert len(list(read_rounds(lambda: iter([far]), loop=True))) == 2


# -- pace --------------------------------------------------------------------------------------------------


class Clock:
    """A clock that moves when it is slept on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def sent(schedule: ReplaySchedule, clock: Clock, batches: list[list[Judgment]]) -> list[tuple[float, str]]:
    """Give when each judgment went out."""
    found = []
    for seconds, judgments in schedule.steps(batches):
        assert seconds >= 0
        clock.now += seconds
        found += [(clock.now - 1000.0, each.id) for each in judgments]
    return found


def at(*seconds: float) -> list[Judgment]:
    return [judgment(n, at=EPOCH + timedelta(seconds=second)) for n, second in enumerate(seconds)]


def test_the_judgments_times_set_the_pace_and_what_is_late_goes_at_once() -> None:
    clock = Clock()
    times = sent(ReplaySchedule(speed=10, clock=clock), clock, [at(50, 60, 55, 60), at(70, 20)])
    assert times == [(0, "id-0"), (1, "id-1"), (1, "id-2"), (1, "id-3"), (2, "id-0"), (2, "id-1")]


def test_the_rate_holds_over_batches() -> None:
    clock = Clock()
    times = sent(ReplaySchedule(rate=4, clock=clock), clock, [at(0, 0, 0), at(0, 0)])
    assert [when for when, _ in times] == [0, 0.25, 0.5, 0.75, 1]


def test_the_slower_of_speed_and_rate_counts() -> None:
    clock = Clock()
    assert [when for when, _ in sent(ReplaySchedule(speed=1, rate=2, clock=clock), clock, [at(0, 0, 3)])] == [0, 0.5, 3]


def test_without_a_pace_a_batch_goes_as_it_is() -> None:
    batch = at(0, 5000)
    assert list(ReplaySchedule().steps([batch])) == [(0.0, batch)]


# -- what stands in Kafka already --------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5), max_size=20), st.lists(st.integers(0, 5), max_size=20), st.integers(1, 7))
def test_what_is_missing_is_the_log_without_what_stands_there_each_as_often(
    there: list[int], log: list[int], size: int
) -> None:
    published = PublishedLog([digest("c", f"id-{n}") for n in there], homes={"c": 0}, ends=[len(there)])
    judgments = [judgment(n) for n in log]
    batches = [judgments[k : k + size] for k in range(0, len(judgments), size)]
    missing = [each.id for batch in batches for each in published.missing(batch)]
    left = [f"id-{n}" for n in there]
    expected = []
    for each in judgments:
        if each.id in left:
            left.remove(each.id)
        else:
            expected.append(each.id)
    assert missing == expected


def test_the_same_id_in_another_campaign_is_another_judgment() -> None:
    published = PublishedLog([digest("c", "id-1")], homes={"c": 0}, ends=[1])
    others = [judgment(1, campaign="d"), judgment(1, campaign="c")]
    assert [each.campaign for each in published.missing(others)] == ["d"]


def test_without_a_broker_it_says_so_in_one_line(log: Path) -> None:
    result = run(log, "--kafka", "127.0.0.1:9")
    assert isinstance(result.exception, BrokerUnavailable)
    assert str(result.exception).startswith("Kafka at 127.0.0.1:9 does not answer")
