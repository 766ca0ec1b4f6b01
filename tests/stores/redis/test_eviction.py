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
from streams.settings import Settings
from streams.stores.redis.store import RedisStore
from streams.worker.run import run
from tests.stores.redis.cluster import running_cluster
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration


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
