"""What a worker says of itself while it works, and while Redis is away."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest
import redis

from deploy.ports import free_port
from streams.wire.events import encode
from tests.builders import crowd_log

if TYPE_CHECKING:
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration


def asked(port: int, path: str) -> tuple[int, str]:
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
            return answer.status, answer.read().decode().strip()
    except HTTPError as error:
        return error.code, error.read().decode().strip()
    except URLError as error:
        return 0, str(error.reason)


def test_a_worker_is_ready_while_it_works_and_says_what_it_waits_for(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port(besides=())
    monkeypatch.setenv("HEALTH", str(port))
    worker = stack.start_worker(script=STARTED_WITH_HEALTH)
    stack.wait_for(lambda: asked(port, "/readyz") == (200, "ok"), "ready")
    assert asked(port, "/healthz") == (200, "ok")

    with redis.Redis.from_url(stack.settings.redis) as client:
        client.execute_command("CLIENT", "PAUSE", 9000, "ALL")
    log = crowd_log(100)
    stack.publish([(entry.campaign.encode(), encode(entry)) for entry in log])
    stack.wait_for(lambda: asked(port, "/readyz")[0] == 503, "not ready")
    assert asked(port, "/readyz")[1].startswith("waiting for Redis: ")
    assert asked(port, "/healthz") == (200, "ok")

    stack.wait_until_read(len(log))
    stack.wait_for(lambda: asked(port, "/readyz") == (200, "ok"), "ready again")
    assert worker.process.poll() is None


STARTED_WITH_HEALTH = """
import os, sys
from streams.cli.main import main

sys.argv += ["--health-port", os.environ["HEALTH"]]
main()
"""
