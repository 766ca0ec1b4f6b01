"""What the tests of the worker share."""

from __future__ import annotations

import pytest

from streams.pipeline.routing import Copies
from streams.worker import assignment


@pytest.fixture(autouse=True)
def _nothing_forwarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a partition open without a Kafka in which it could look for copies."""
    monkeypatch.setattr(assignment, "find_copies", lambda _: Copies())
