"""A monitor on an embedded stream, fresh for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.monitor.site import Running, running


@pytest.fixture
def monitor() -> Iterator[Running]:
    with running() as found:
        yield found
