"""Waiting until the workers have applied what was published, and reading the campaigns then."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.errors import NoAnswer
from streams.stores.redis.store import RedisStore
from streams.wire.topics import JUDGMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from streams.settings import Settings

POLL_SECONDS = 0.1


def wait_until_applied(
    settings: Settings, ends: dict[int, int], *, patience: float, progress: Callable[[int], None]
) -> None:
    """Wait until the state in Redis reflects the log up to these ends.

    Raise NoAnswer if it does not move for `patience` seconds.
    """
    topic, total = JUDGMENTS.within(settings.namespace), sum(ends.values())
    with closing(RedisStore(settings.redis, namespace=settings.namespace)) as store:
        moved, before = time.monotonic(), -1
        while True:
            offsets = {number: int(store.read_partition(f"{topic}/{number}").get("offset", 0)) for number in ends}
            behind = sum(max(0, end - offsets[number]) for number, end in ends.items())
            progress(total - behind)
            if not behind:
                return
            if behind != before:
                moved, before = time.monotonic(), behind
            elif time.monotonic() - moved > patience:
                raise NoAnswer(
                    f"no worker has applied anything for {patience:g} s: {behind:,} records of {topic} are not applied "
                    "yet. They will be when a worker reads them. Is one running? Check with: judgestream doctor"
                )
            time.sleep(POLL_SECONDS)


def read_campaigns(settings: Settings, names: Iterable[str]) -> list[ReadOnlyCampaign]:
    """Read campaigns from Redis. One that is not there was not opened."""
    with closing(RedisStore(settings.redis, namespace=settings.namespace)) as store:
        stored = {name: store.read(name) for name in sorted(names)}
    return [ReadOnlyCampaign.restore(name, found) for name, found in stored.items() if found is not None]
