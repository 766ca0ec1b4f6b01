"""Running campaigns for tests of commands, in a memory store instead of Redis."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire.events import CampaignSettings, Create
from tests.builders import NOON, crowd_log

if TYPE_CHECKING:
    from streams.offline.rating import RatedLog
    from streams.wire.events import Command, Judgment


class KeptStore(MemoryStore):
    """A memory store that can be closed like a Redis store."""

    def close(self) -> None:
        pass


class Running:
    """An embedded stream. The commands read its store."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = KeptStore()
        self.stream = Embedded(Settings(), store=self.store)
        monkeypatch.setattr("streams.stores.redis.store.RedisStore", lambda url, namespace: self.store)

    def take(self, *events: Judgment | Command) -> None:
        for event in events:
            self.stream.publish(event)
        self.stream.run()


def opened(model: str = "trueskill", **settings: object) -> Create:
    chosen = msgspec.convert({"model": model, "outstanding": 0, "replicas": 0, **settings}, CampaignSettings)
    return Create(id="create", campaign="wmt.fr-en", at=NOON, settings=chosen)


def crowd(count: int = 200, **options: int) -> list[Judgment]:
    """Return judgments with durations."""
    return [
        msgspec.structs.replace(each, campaign="wmt.fr-en", duration_ms=1000 * (1 + number % 3))
        for number, each in enumerate(crowd_log(count, **options))
    ]


def rated(log: list[Judgment], model: str = "trueskill") -> RatedLog:
    from streams.offline.planning import plan_ranking
    from streams.offline.rating import rate

    return rate([log], plan_ranking(model).settings)


LATER = NOON + timedelta(days=1)
