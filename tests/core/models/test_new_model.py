"""A new model is its class and one entry in the registry: battery, judges' report and `evaluate` find it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from streams.core.campaign.campaign import Campaign
from streams.core.models import MODELS
from streams.reports.views import judge_views
from streams.wire import events
from tests.builders import judgment
from tests.core.models.tiny_model import Tiny


def run(*arguments: str) -> str:
    found = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.long
def test_the_battery_checks_a_new_model() -> None:
    plugin = ("-p", "tests.core.models.tiny_model", "-p", "no:cacheprovider", "-p", "no:xdist")
    printed = run("-m", "pytest", "tests/core/models/test_battery.py", *plugin, "-k", Tiny.name)
    passed = re.search(r"(\d+) passed", printed)
    assert passed, printed
    assert int(passed[1]) >= 15


def test_a_new_model_is_in_the_judges_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, Tiny.name, Tiny)
    campaign = Campaign("c", settings=events.CampaignSettings(model=Tiny.name))
    campaign.apply(range(2), [judgment(number, judge="ann") for number in range(2)])
    assert [(view.judge, view.reliability) for view in judge_views(campaign)] == [("ann", 0.75)]


def test_evaluate_lists_and_accepts_a_new_model() -> None:
    start = "from tests.core.models.tiny_model import register; register(); from streams.cli.main import cli; "
    printed = run("-c", start + "cli(['evaluate', '--list'])")
    models = next(line for line in printed.splitlines() if "ties-so-far" in line)
    assert Tiny.name in models
    names = "from streams.lab.protocols.learners import LEARNERS; print(*LEARNERS)"
    assert Tiny.name in run("-c", start + names).split()
