"""The Faust app accepts all settings that are allowed."""

from __future__ import annotations

import pytest

from streams.metrics import WorkerMetrics
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.worker.app import create_app
from streams.worker.status import WorkerStatus


@pytest.mark.parametrize("seconds", [6.0, 90.0, 1800.0])
def test_faust_does_not_refuse_a_long_session(seconds: float) -> None:
    settings = Settings(session_timeout_seconds=seconds)
    conf = create_app(settings, MemoryStore(), WorkerStatus(), WorkerMetrics()).conf
    assert conf.broker_request_timeout >= conf.broker_session_timeout == seconds  # it would end with an error
