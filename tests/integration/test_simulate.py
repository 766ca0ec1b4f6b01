"""`judgestream simulate` on the real stack: whole campaigns that play themselves, and end by their own rules."""

from __future__ import annotations

import json
import re
import signal
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from deploy.servers import Servers
from streams.core.campaign.pseudonyms import wire_pseudonym
from streams.crowd import Panel, Skills, recruit
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import Judgment, MatchRequest
from tests.data import real_log
from tests.integration.stack import Stack, done
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Addresses
    from tests.integration.conftest import Start

pytestmark = pytest.mark.integration

WMT13 = "wmt13_fr-en_rank.csv.gz"
OFFICIAL_FIRST = "newstest2013.fr-en.uedin-heafield-unconstrained.2755"  # UEDIN-HEAFIELD in the paper


def judgments(stack: Stack, campaign: str) -> list[dict[str, Any]]:
    events = [json.loads(value) for value in stack.values(topics.JUDGMENTS)]
    return [event for event in events if event["campaign"] == campaign and "action" not in event]


def requests(stack: Stack, campaign: str) -> dict[str, dict[str, Any]]:
    events = [json.loads(value) for value in stack.values(topics.MATCH_REQUESTS)]
    return {event["id"]: event for event in events if event["campaign"] == campaign}


@pytest.mark.data
def test_a_campaign_with_a_real_log_as_its_oracle_ends_by_its_stop_rule(stack: Stack) -> None:
    log = str(real_log(WMT13))
    stack.start_worker()
    # As WMT13 was held: five systems at a time, chosen at random. The two best tie in half of their judgments, so a
    # policy that asks for that pair most often may well have them the other way round.
    settings = ("policy=uniform", "ways=5", "stop_confidence=0.9", "budget=6000", "outstanding=200")
    found = done(
        stack.command(
            *("simulate", "wmt13.fr-en", "--create", "--oracle", log, "--json"),
            *(word for setting in settings for word in ("--setting", setting)),
        )
    )
    (board,) = found["campaigns"]
    assert found["simulation"]["ended"] == "the campaign asks no more"
    assert board["rows"][0]["system"] == OFFICIAL_FIRST
    assert len(board["rows"]) == 13
    asked, answers = requests(stack, "wmt13.fr-en"), judgments(stack, "wmt13.fr-en")
    assert board["judgments"] == found["simulation"]["judgments"] == len(answers) <= 6000
    assert {answer["request"] for answer in answers} == set(asked)
    for answer in answers:
        assert answer["systems"] == asked[answer["request"]]["systems"]
    again = done(stack.command("simulate", "wmt13.fr-en", "--oracle", log, "--json", "--seed", "2"))
    assert again["simulation"]["judgments"] == 0
    assert again["campaigns"] == [board]


def test_a_campaign_of_direct_assessment_asks_for_scores_in_its_range(stack: Stack) -> None:
    stack.start_worker()
    settings = ("model=assessment", "score_range=1,7", "budget=150", "outstanding=20")
    found = done(
        stack.command(
            *("simulate", "scores", "--create", "--systems", "4", "--seed", "3", "--json"),  # far from each other
            *(word for setting in settings for word in ("--setting", setting)),
        )
    )
    assert found["simulation"]["judgments"] == found["campaigns"][0]["judgments"] == 150
    assert found["simulation"]["tau"] > 0.5
    asked, answers = requests(stack, "scores"), judgments(stack, "scores")
    assert {answer["request"] for answer in answers} == set(asked)
    for answer in answers:
        request = asked[answer["request"]]
        assert (answer["systems"], answer["segment"]) == (request["systems"], request["segment"])
        assert 1 <= answer["score"] <= 7
    assert stack.values(topics.REJECTED) == []


def test_a_campaign_is_played_to_its_budget_by_requests_of_many_and_every_answer_is_its_requests(stack: Stack) -> None:
    stack.start_worker()
    arguments = ("--systems", "5", "--careless", "0.2", "--slow", "0.2", "--biased", "0.1", "--adversarial", "0.1")
    settings = ("--setting", "budget=150", "--setting", "ways=3", "--setting", "request_seconds=600")
    found = done(stack.command("simulate", "trial", "--create", "--seed", "7", "--json", *arguments, *settings))
    assert found["simulation"]["judgments"] == found["campaigns"][0]["judgments"] == 150
    assert found["simulation"]["ended"] == "the campaign asks no more"
    assert -1 <= found["simulation"]["tau"] <= 1
    random = np.random.default_rng(7)
    truth = Skills.draw(5, random=random)
    judges = recruit(40, careless=0.2, slow=0.2, biased=0.1, adversarial=0.1, random=random)
    panel = Panel(judges=judges, truth=truth, seed=7)
    asked = [msgspec.convert(each, MatchRequest, strict=False) for each in requests(stack, "trial").values()]
    expected = {each.id: panel.answer(each, asked=each.expires_at - timedelta(seconds=600)) for each in asked}
    for answer in judgments(stack, "trial"):
        sent, wanted = msgspec.convert(answer, Judgment, strict=False), expected[answer["request"]]
        assert sent.judge == wire_pseudonym(wanted.judge, stack.settings.judge_key)
        assert sent.at <= wanted.at, "it does not come from the future"
        assert msgspec.structs.replace(sent, at=wanted.at, judge=wanted.judge) == wanted
    assert stack.values(topics.REJECTED) == []


def test_interrupted_or_ended_by_a_number_it_goes_on_and_answers_nothing_twice(start: Start, stack: Stack) -> None:
    stack.start_worker()
    create = ("--create", "--setting", "budget=400", "--setting", "outstanding=20")
    first = done(stack.command("simulate", "trial", *create, "--judgments", "30", "--json"))
    assert first["simulation"]["judgments"] == first["campaigns"][0]["judgments"] == 30
    assert first["simulation"]["ended"] == "there are as many judgments as were wanted"
    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        known = len(judgments(stack, "trial"))
        process = start(stack, "simulate", "trial", "--rate", "50", "--seed", str(int(how)))
        stack.wait_for(partial(holds, stack, known + 20), "20 more judgments")
        process.send_signal(how)
        said = process.communicate(timeout=PATIENCE_SECONDS)[1]
        assert process.returncode == code
        assert "Traceback" not in said
    last = done(stack.command("simulate", "trial", "--json", "--seed", "9"))
    assert last["campaigns"][0]["judgments"] == 400
    answers = judgments(stack, "trial")
    assert len({answer["request"] for answer in answers}) == len(answers) == 400


def holds(stack: Stack, count: int) -> bool:
    return len(judgments(stack, "trial")) >= count


def test_matches_that_the_judges_know_nothing_of_are_not_answered_and_counted(stack: Stack) -> None:
    skills = stack.folder / "skills.csv"
    skills.write_text("a,1\nb,0\n")
    stack.start_worker()
    settings = ("--setting", "systems=a,b,stranger", "--setting", "budget=100", "--setting", "outstanding=6")
    result = stack.command("simulate", "trial", "--create", "--skills", "skills.csv", "--json", *settings)
    found = done(result)
    assert found["simulation"]["not_answered"] == 6
    assert found["simulation"]["ended"] == "the campaign asks no more, or only what can't be answered"
    assert "6 requests were not answered; the first: the skill of the system 'stranger' is not known" in result.stderr
    assert all("stranger" not in answer["systems"] for answer in judgments(stack, "trial"))


def test_a_campaign_that_is_closed_ends_it(start: Start, stack: Stack) -> None:
    stack.start_worker()
    process = start(stack, "simulate", "trial", "--create", "--rate", "50", "--json")
    stack.wait_for(partial(holds, stack, 20), "20 judgments")
    assert stack.command("campaign", "close", "trial", "--yes").returncode == 0
    stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["simulation"]["ended"] == "the campaign is closed"


def test_without_a_worker_or_a_campaign_it_says_so(stack: Stack) -> None:
    for arguments, words in (
        (("trial", "--create", "--timeout", "1"), "no answer within 1 s"),
        (("trial",), "no campaign 'trial'; there is none yet; --create opens it"),
    ):
        result = stack.command("simulate", *arguments)
        assert (result.returncode, result.stdout) == (1, "")
        assert words in result.stderr
        assert "Traceback" not in result.stderr


def test_a_broker_that_goes_away_is_a_clear_error(start: Start, servers: Addresses, tmp_path: Path) -> None:
    own = Servers(tmp_path / "servers")
    with ExitStack() as ending:
        ending.callback(own.kill)
        kafka = own.start("kafka")["JUDGESTREAM_KAFKA"]
        settings = Settings(kafka=kafka, redis=servers.redis, namespace="mortal", judge_key="k", partitions=4)
        stack = Stack(settings, tmp_path)
        ending.callback(stack.stop)
        stack.start_worker()
        process = start(stack, "simulate", "trial", "--create", "--rate", "50", "--timeout", "10")
        stack.wait_for(partial(holds, stack, 20), "20 judgments")
        own.kill("kafka")
        said = process.communicate(timeout=PATIENCE_SECONDS)[1]
        assert process.returncode == 1
        assert re.search(r"Error: .*, after [\d,]+ answers|Error: .*; [\d,]+ answers were acknowledged", said), said
        assert "Traceback" not in said
