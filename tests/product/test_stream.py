"""Every model, mode, policy and stop rule in every scenario: the worker, its outputs, the store and a replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from streams.pipeline.embedded import Embedded
from streams.pipeline.memory_log import MemoryLog
from streams.settings import Settings
from streams.stores import Store
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.events import Rejection
from tests.product.cases import CASES, Case, cases_for
from tests.product.checks import OUTPUTS, check_events, check_restored
from tests.product.run import Run
from tests.product.scenarios import SCENARIOS
from tests.state_hash import state_hash

PARTITION = f"{topics.JUDGMENTS.name}/0"


def plan() -> Iterator[Any]:
    """Every case has many judgments. The other scenarios meet every mode and option, each in some of the cases.

    The first case of each model is quick enough for every run.
    """
    for number, scenario in enumerate(SCENARIOS):
        models: set[str] = set()
        for case in CASES if scenario == "many_judgments" else cases_for(number):
            model = case.variant.settings.model
            yield pytest.param(scenario, case, id=f"{scenario} {case}", marks=[pytest.mark.long] * (model in models))
            models.add(model)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("scenario", "case"), [*plan()])
def test_a_campaign_of_this_kind_runs(scenario: str, case: Case) -> None:
    run = Run(case)
    SCENARIOS[scenario](run)
    log = run.stream.log
    events = check_events(
        ((topic, [record.value or b"" for record in log.all(topic.name)]) for topic in OUTPUTS),
        published=scenario == "many_judgments",
    )
    assert {event.reason for event in events if isinstance(event, Rejection)} <= run.expected
    assert run.campaign.counts.judgments == len(run.judged)
    stored = run.stream.store.read(run.name)
    assert stored is not None
    check_restored(run.campaign, stored)
    expected = state_hash(run.stream.store, [PARTITION])
    assert state_hash(replayed(run.stream, batch=23), [PARTITION]) == expected


def replayed(stream: Embedded, *, batch: int) -> Store:
    """Process the log of a stream again, in batches of another size, by a worker that starts again in the middle."""
    records = stream.log.all(topics.JUDGMENTS.name)
    half = len(records) // 2
    log, store = MemoryLog(), MemoryStore()
    for part in (records[:half], records[half:]):
        for record in part:
            log.append(topics.JUDGMENTS.name, record.key, record.value)
        worker = Embedded(Settings(batch_records=batch), store=store)
        worker.log = log
        worker.run()
    return store
