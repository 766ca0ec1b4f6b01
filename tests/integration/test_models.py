"""A sample of the product's battery (tests/product) on a real Kafka and a real Redis: every model in every mode."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from streams.wire import topics
from streams.wire.events import Create, Judgment, MatchRequest, encode
from tests.builders import NOON
from tests.integration.monitors import monitor_on
from tests.product.cases import SEGMENTS
from tests.product.checks import OUTPUTS, check_board, check_events
from tests.product.reading import read_monitor, show_campaign
from tests.product.run import JUDGES, by_quality, judgment_of
from tests.product.variants import SYSTEMS, VARIANTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

# A line of a log that a person would have to look at. A timer that is late only says that the machine is busy.
TROUBLE = re.compile(r"\[(WARNING|ERROR|CRITICAL)\](?! Timer \w+ is overlapping)|Traceback|Warning:")
CAMPAIGNS = {str(variant).replace(" ", "."): variant for variant in VARIANTS}


class Crowd:
    """Judges of all campaigns."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(3)
        self._number = 0

    def judge(self, campaign: str, systems: Sequence[str], request: MatchRequest | None = None) -> Judgment:
        self._number += 1
        return judgment_of(
            systems,
            campaign=campaign,
            number=self._number,
            segment=(request and request.segment) or SEGMENTS[self._number % len(SEGMENTS)],
            judge=JUDGES[self._number % len(JUDGES)],
            scored=CAMPAIGNS[campaign].model.kind == "scores",
            request=None if request is None else request.id,
            verdict=by_quality,
            random=self._random,
        )

    def judge_unasked(self, campaign: str, count: int) -> list[Judgment]:
        baseline = CAMPAIGNS[campaign].settings.baseline
        fixed = [] if baseline is None else [baseline]
        others = [system for system in SYSTEMS if system != baseline]
        size = (1 if CAMPAIGNS[campaign].model.kind == "scores" else 2) - len(fixed)
        drawn = (self._random.choice(others, size=size, replace=False).tolist() for _ in range(count))
        return [self.judge(campaign, [*systems, *fixed]) for systems in drawn]


def publish(stack: Stack, judgments: Sequence[Judgment]) -> None:
    before = stack.records_read()
    stack.publish([(each.campaign.encode(), encode(each)) for each in judgments])
    stack.wait_until_read(before + len(judgments))


def test_every_model_runs_on_the_real_stack(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    worker, crowd = stack.start_worker(), Crowd()
    for name, variant in CAMPAIGNS.items():
        settings = msgspec.structs.replace(variant.settings, systems=SYSTEMS, stop_confidence=0.9)
        create = Create(id="create", campaign=name, at=NOON, settings=settings)
        stack.publish([(name.encode(), encode(create))])
    publish(stack, [judgment for name in CAMPAIGNS for judgment in crowd.judge_unasked(name, 40)])
    requests = [msgspec.json.decode(value, type=MatchRequest) for value in stack.values(topics.MATCH_REQUESTS)]
    publish(stack, [crowd.judge(each.campaign, each.systems, each) for each in requests])

    with monkeypatch.context() as patched:
        patched.setattr("streams.cli.commands.watch.time.sleep", interrupted)  # a watch ends after its first look
        for name in CAMPAIGNS:
            show_campaign(name, all_forms=False, environment=stack.environment)
    for command in ("leaderboard", "judges", "segments"):
        done = stack.command(command, next(iter(CAMPAIGNS)), "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)
    with monitor_on(stack) as monitor:
        stack.wait_for(monitor.is_ready, "the monitor is ready")
        read_monitor(monitor, [*CAMPAIGNS])
        log = monitor.log
    assert not TROUBLE.search(log.read_text()), log.read_text()

    events = check_events(((topic, stack.values(topic)) for topic in OUTPUTS), published=True)
    assert {request.campaign for request in requests} >= {
        name for name, variant in CAMPAIGNS.items() if not variant.settings.budget
    }
    for board in (event for event in events if hasattr(event, "rows")):
        check_board(board)
    assert stack.values(topics.REJECTED) == []
    assert worker.process.poll() is None
    worker.terminate()
    assert not TROUBLE.search(worker.log.read_text()), worker.log.read_text()
