"""The stores that the suites run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.stores.memory import MemoryStore
from streams.stores.redis.store import RedisStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.stores import Store


@pytest.fixture(
    params=[
        "memory",
        pytest.param("redis", marks=pytest.mark.integration),
        pytest.param("cluster", marks=pytest.mark.integration),
    ]
)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    url = request.getfixturevalue("servers").redis if request.param == "redis" else request.getfixturevalue("cluster")
    store = RedisStore(url, namespace=request.getfixturevalue("namespace"))
    yield store
    store.close()
