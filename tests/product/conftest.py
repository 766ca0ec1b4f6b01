"""No warning in a log: what is logged while a test of this folder runs is a failure of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.WARNING)
    yield
    logged = [record.getMessage() for when in ("setup", "call") for record in caplog.get_records(when)]
    assert logged == []
