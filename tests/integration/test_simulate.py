"""`judgestream simulate` on the real stack: whole campaigns that play themselves, and end by their own rules."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streams import topics
from tests.integration.stack import Stack

if TYPE_CHECKING:
    from subprocess import CompletedProcess

pytestmark = pytest.mark.integration

WMT13 = Path(os.environ.get("JUDGESTREAM_DATA", "../shared/data")).resolve() / "wmt13_fr-en_rank.csv.gz"
OFFICIAL_FIRST = "newstest2013.fr-en.uedin-heafield-unconstrained.2755"  # UEDIN-HEAFIELD in the paper


def done(result: CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def judgments(stack: Stack, campaign: str) -> list[dict[str, Any]]:
    events = [json.loads(value) for value in stack.values(topics.JUDGMENTS)]
    return [event for event in events if event["campaign"] == campaign and "action" not in event]


def requests(stack: Stack, campaign: str) -> dict[str, dict[str, Any]]:
    events = [json.loads(value) for value in stack.values(topics.MATCH_REQUESTS)]
    return {event["id"]: event for event in events if event["campaign"] == campaign}


def test_a_campaign_with_a_real_log_as_its_oracle_ends_by_its_stop_rule(stack: Stack) -> None:
    assert WMT13.is_file(), f"{WMT13} is missing"
    stack.start_worker()
    settings = ("stop_confidence=0.9", "budget=4000", "outstanding=100")
    found = done(
        stack.command(
            *("simulate", "wmt13.fr-en", "--create", "--oracle", str(WMT13), "--json"),
            *(word for setting in settings for word in ("--setting", setting)),
        )
    )
    (board,) = found["campaigns"]
    assert found["simulation"]["ended"] == "the campaign asks no more"
    assert board["rows"][0]["system"] == OFFICIAL_FIRST
    assert len(board["rows"]) == 13
    asked, answers = requests(stack, "wmt13.fr-en"), judgments(stack, "wmt13.fr-en")
    assert board["judgments"] == found["simulation"]["judgments"] == len(answers) <= 4000
    assert {answer["request"] for answer in answers} == set(asked)
    for answer in answers:
        assert answer["systems"] == asked[answer["request"]]["systems"]
    again = done(stack.command("simulate", "wmt13.fr-en", "--oracle", str(WMT13), "--json", "--seed", "2"))
    assert again["simulation"]["judgments"] == 0
    assert again["campaigns"] == [board]
