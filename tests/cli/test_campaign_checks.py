"""The check of all stored campaigns: each problem is named with the way out, and none hides another."""

from __future__ import annotations

import msgspec
import pytest

from streams.cli.campaign_checks import check_campaigns
from streams.core.campaign.state import LAYOUT
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.events import encode
from streams.wire.quarantine import Quarantine
from tests.builders import crowd_log

HOME = f"{topics.JUDGMENTS.name}/0"
NAMES = [f"campaign-{number}" for number in range(7)]


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    stream = Embedded(Settings(judge_key="key"), store=store)
    for entry in crowd_log(70, campaigns=len(NAMES), seed=2):
        stream.publish(entry)
    stream.run()
    return store


def quarantine(store: MemoryStore, name: str, cause: str) -> None:
    kept, meta = store._campaigns[name], store.read_meta(name)
    assert meta is not None
    status = msgspec.structs.replace(meta.status, quarantine=Quarantine(offset=5, error="why", cause=cause))  # type: ignore[arg-type]
    kept.status = encode({"standing": status, "retractions": meta.retractions})


def test_campaigns_that_are_well_have_no_problem(store: MemoryStore) -> None:
    checks = check_campaigns(store, [HOME])
    assert (checks.stored, checks.rated_again, checks.problems) == (len(NAMES), 0, {})


def test_each_problem_is_named_with_the_way_out_and_hides_no_other(store: MemoryStore) -> None:
    fault, corrupt, retraction, unreadable, newer, lost, malformed = NAMES
    quarantine(store, fault, "fault")
    quarantine(store, corrupt, "corrupt")
    quarantine(store, retraction, "retraction")
    store._campaigns[unreadable].meta = b"{"
    store._campaigns[newer].meta = store._campaigns[newer].meta.replace(
        b'"layout":%d' % LAYOUT, b'"layout":%d' % (LAYOUT + 1)
    )
    del store._campaigns[lost]
    rows = store._campaigns[malformed].tables["pairs"]
    rows.update(dict.fromkeys(rows, b"short"))
    checks = check_campaigns(store, [HOME])
    assert (checks.stored, checks.rated_again) == (len(NAMES), 1)
    found = {name: (problem.text, problem.fix) for name, problem in checks.problems.items()}
    assert sorted(found) == sorted({*NAMES} - {retraction})
    assert found[fault] == ("quarantined: why", f"Update Judgestream, then run: judgestream rebuild {fault}")
    for name, text in (
        (corrupt, "quarantined: why"),
        (unreadable, "can't be read"),
        (lost, "lost"),
        (malformed, "a stored row is missing or can't be read"),
    ):
        assert text in found[name][0]
        assert found[name][1].endswith(f"judgestream rebuild {name}")
        assert "a running worker repairs" in found[name][1]
    assert f"stored in layout {LAYOUT + 1}" in found[newer][0]
    assert found[newer][1] == "update Judgestream on this machine"


def test_a_partition_of_a_newer_layout_is_named(store: MemoryStore) -> None:
    partition = store._partitions[HOME]
    partition.head = {**partition.head, "layout": str(LAYOUT + 1)}
    assert list(check_campaigns(store, [HOME]).problems) == [HOME]
