"""The stores that the suites run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.stores.memory import MemoryStore
from streams.stores.redis.store import RedisStore
from tests.stores.redis.cluster import running_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.stores import Store


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


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
