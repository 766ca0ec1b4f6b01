"""Workers and the rebuild on a real Redis Cluster, which refuses a call that touches two slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.errors import StoreUnavailable
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.rebuild.rebuild import rebuild
from streams.stores.redis.client import Client
from streams.wire import topics
from tests.integration.stack import Stack
from tests.integration.test_rebuild import damage, dump, expected_hash, flush, found_hash, run_log, settled
from tests.integration.test_worker import published
from tests.stores.redis.cluster import running_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


@pytest.fixture
def clustered(stack: Stack, cluster: str, tmp_path: Path) -> Iterator[Stack]:
    """Return the stack on a cluster."""
    clustered = Stack(msgspec.structs.replace(stack.settings, redis=cluster), tmp_path)
    assert clustered.store.ping().endswith("(cluster)")
    try:
        yield clustered
    finally:
        clustered.stop()


def test_kill_9_on_a_cluster_loses_and_doubles_nothing(clustered: Stack) -> None:
    records = published(4000, seed=11)
    worker = clustered.start_worker()
    clustered.publish(records)
    clustered.wait_until_read(400)
    worker.process.kill()
    worker.process.wait()
    assert clustered.records_read() < len(records), "the worker was too fast for this test to show anything"
    clustered.start_worker()
    clustered.wait_until_read(len(records))
    assert found_hash(clustered) == expected_hash(clustered)


def test_a_cluster_is_rebuilt_after_damage_and_after_a_flush(clustered: Stack) -> None:
    clustered.publish(published(600, seed=12))
    run_log(clustered, clustered.store)
    healthy = settled(dump(clustered))
    damage(clustered, "campaign-2")
    assert rebuild(clustered.settings, "campaign-2").differs
    assert settled(dump(clustered)) == healthy
    flush(clustered)
    assert rebuild(clustered.settings).differs
    assert settled(dump(clustered)) == healthy
    assert not rebuild(clustered.settings, dry_run=True).differs


def test_a_campaign_ahead_of_its_partition_is_no_difference_and_is_not_set_back(
    clustered: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut a batch off behind its first campaign; then damage another one of the same partition."""
    records = [record for record in published(300, seed=13) if record[0] is not None]
    clustered.publish([(b"one-key", value) for _, value in records])
    ((number, log),) = clustered.read(topics.JUDGMENTS).items()
    options = ProcessorOptions.from_settings(clustered.settings)
    processor, _ = Processor.open(clustered.name(topics.JUDGMENTS), number, clustered.store, options)
    processor.process(log[:150])
    run = Client.run
    scripts: list[str] = []

    def run_two(self: Client, script: str, **more: Any) -> Any:
        if script in {"announce", "persist"}:
            if len(scripts) == 2:
                raise StoreUnavailable("gone")
            scripts.append(script)
        return run(self, script, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Client, "run", run_two)
        with pytest.raises(StoreUnavailable):
            processor.process(log[150:])
    assert scripts == ["announce", "persist"]

    assert not rebuild(clustered.settings, dry_run=True).differs
    (ahead,) = [
        name
        for name in clustered.store.list_campaigns([f"{processor.topic}/{number}"])
        if _offset(clustered, name) >= 150
    ]
    behind = next(name for name in ("campaign-0", "campaign-1") if name != ahead)
    damage(clustered, behind)
    assert rebuild(clustered.settings).differs
    assert not rebuild(clustered.settings, dry_run=True).differs
    assert _offset(clustered, ahead) >= 150 > _offset(clustered, behind)
    run_log(clustered, clustered.store)
    assert found_hash(clustered) == expected_hash(clustered)


def _offset(stack: Stack, campaign: str) -> int:
    return int(stack.store.read_head(campaign)["offset"])
