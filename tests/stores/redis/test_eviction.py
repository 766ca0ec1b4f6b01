"""A Redis that may delete keys when its memory is full: no worker starts on it, and `doctor` says what to change."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

import pytest
import redis
from click.testing import CliRunner

from deploy.ports import free_port
from deploy.processes import end, launch
from deploy.redis_server import RedisServer
from streams.cli.commands.doctor import command
from streams.errors import SettingError
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.stores.redis.store import RedisStore
from streams.wire.events import encode
from streams.worker.run import run
from tests.builders import crowd_log
from tests.stores.redis.cluster import running_cluster
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration

HOME = "judgments.v1/0"


@pytest.fixture(params=["redis", "cluster"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A server of its own, because its settings change."""
    if request.param == "cluster":
        with running_cluster(tmp_path) as address:
            yield address
        return
    server = RedisServer(free_port(), secrets.token_hex(16))
    process = launch(server.prepare(tmp_path), home=tmp_path, log=tmp_path / "redis.log")
    try:
        wait_for(server.is_ready, "the server answers")
        yield server.address
    finally:
        end(process, patience=PATIENCE_SECONDS)


def test_any_policy_but_noeviction_is_refused_with_the_way_out(url: str) -> None:
    store, client = RedisStore(url), redis.Redis.from_url(url)
    store.check_eviction()
    for policy in ("allkeys-lru", "volatile-ttl"):
        client.config_set("maxmemory-policy", policy)
        with pytest.raises(SettingError, match=rf"'{policy}'; set it to noeviction .* CONFIG SET maxmemory-policy"):
            store.check_eviction()
    with pytest.raises(SettingError, match="may delete keys when its memory is full"):
        run(Settings(redis=url, judge_key="key", kafka="127.0.0.1:9"))
    environment = {"JUDGESTREAM_REDIS": url, "JUDGESTREAM_KAFKA": "127.0.0.1:9"}
    findings = json.loads(CliRunner().invoke(command, ["--json"], env=environment).stdout)["findings"]
    (found,) = [finding for finding in findings if finding["subject"] == "Redis"]
    assert not found["well"]
    assert "maxmemory-policy is 'volatile-ttl'" in found["found"]
    assert "CONFIG SET maxmemory-policy noeviction" in found["fix"]
    client.close()
    store.close()


@pytest.mark.parametrize("url", ["redis"], indirect=True)
@pytest.mark.parametrize("share", [0.9, 0.7, 0.5])
def test_what_was_evicted_is_never_taken_for_a_new_campaign(url: str, share: float) -> None:
    log = [Record(offset, None, encode(entry)) for offset, entry in enumerate(crowd_log(600, campaigns=120, seed=41))]
    options = ProcessorOptions.from_settings(Settings(judge_key="key"))
    store, calm, client = RedisStore(url), MemoryStore(), redis.Redis.from_url(url)
    empty = client.info("memory")["used_memory"]
    for each in (store, calm):
        Processor.open("judgments.v1", 0, each, options)[0].process(log)
    kept, used = client.dbsize(), client.info("memory")["used_memory"]
    client.config_set("maxmemory-policy", "allkeys-lru")
    client.config_set("maxmemory", int(empty + (used - empty) * share))
    client.set("more", "x")  # makes room for itself
    client.config_set("maxmemory", 0)
    assert client.dbsize() < kept, "some keys were evicted"
    lease, state = store.open(HOME)
    began_again = state.next_offset == 0
    whole = lost = 0
    for name in calm.list_campaigns([HOME]):
        found, expected = store.load(lease, name), calm.read(name)
        assert expected is not None
        if found is None:
            assert began_again, f"{name} is taken for a new campaign, and its records are not read again"
        elif found.problem is None:
            assert (found.tables, found.seen, found.scores) == (expected.tables, expected.seen, expected.scores)
            whole += 1
        else:
            lost += 1
    assert lost or began_again
    assert whole or share < 0.9
    client.close()
    store.close()
