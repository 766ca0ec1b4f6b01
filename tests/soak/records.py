"""What is published in a soak: judgments, commands, retractions, and records that are bad or come to a wrong place."""

from __future__ import annotations

import json
import random
import threading
from collections import defaultdict, deque
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec
import numpy as np

from streams.wire.events import Create, encode
from tests.builders import NOON
from tests.pipeline.test_processor import POISON
from tests.product.run import by_quality, judgment_of
from tests.product.variants import SYSTEMS, VARIANTS
from tests.soak.places import Place, Places

JUDGES = tuple(f"judge-{number}" for number in range(7))
SEGMENTS = 40
LANGUAGES = ("de", "fr", "is", None, None)  # None: a judgment without tags
RECENT = 2000
CLOSED_SHARE = 0.02  # of the campaigns are closed at some time: their later judgments are rejected
BAD = [value for value, _, _ in POISON.values() if value is None or len(value) < 200_000]


class Message(NamedTuple):
    """A record to publish. Without a partition, the key chooses it."""

    key: bytes | None
    value: bytes | None
    partition: int | None = None


class Author:
    """Writes the records of all campaigns. Use it under its `lock`: the load and the events share it."""

    def __init__(self, places: Places, seed: int) -> None:
        self.lock = threading.Lock()
        self._places = places
        self._chance = random.Random(f"records {seed}")
        self._random = np.random.default_rng(seed)
        self._number = 0
        self._variants = {
            place.campaign: VARIANTS[number % len(VARIANTS)] for number, place in enumerate(places.campaigns)
        }
        self._recent: deque[Message] = deque(maxlen=RECENT)
        self._ids: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=200))
        closable = self._chance.sample(places.campaigns, k=int(len(places.campaigns) * CLOSED_SHARE))
        self._closable = {place.campaign for place in closable}

    def creations(self) -> list[Message]:
        """Return a command for each campaign that creates it."""
        return [self._create(number, place) for number, place in enumerate(self._places.campaigns)]

    def _create(self, number: int, place: Place) -> Message:
        settings = self._variants[place.campaign].settings
        settings = msgspec.structs.replace(settings, replicas=40 if number % 3 == 0 else 0)
        if self._variants[place.campaign].model.ranks_categories:
            settings = msgspec.structs.replace(settings, boards=("language",))
        command = Create(id="create", campaign=place.campaign, at=NOON, settings=settings)
        return Message(place.campaign.encode(), encode(command))

    def ordinary(self, count: int) -> list[Message]:
        """Return judgments, with some duplicates and commands among them."""
        found = []
        for _ in range(count):
            chance = self._chance.random()
            if chance < 0.03 and self._recent:
                found.append(self._chance.choice(self._recent))
            elif chance < 0.035:
                found.append(self._command())
            else:
                found.append(self.judgment(self._chance.choice(self._places.campaigns)))
        return found

    def judgment(self, place: Place) -> Message:
        """Return a new judgment of a campaign."""
        self._number += 1
        variant = self._variants[place.campaign]
        baseline, scored = variant.settings.baseline, variant.model.kind == "scores"
        fixed = [] if baseline is None else [baseline]
        others = [system for system in SYSTEMS if system != baseline]
        systems = self._chance.sample(others, k=(1 if scored else 2) - len(fixed))
        judgment = judgment_of(
            [*systems, *fixed],
            campaign=place.campaign,
            number=self._number,
            segment=f"segment-{self._chance.randrange(SEGMENTS)}",
            judge=self._chance.choice(JUDGES),
            scored=scored,
            request=None,
            verdict=by_quality,
            random=self._random,
        )
        language = self._chance.choice(LANGUAGES)
        judgment = msgspec.structs.replace(judgment, tags=language and {"language": language})
        message = Message(place.campaign.encode(), encode(judgment))
        self._recent.append(message)
        self._ids[place.campaign].append(judgment.id)
        return message

    def last_judgments(self) -> list[Message]:
        """Return a new judgment of every campaign."""
        return [self.judgment(place) for place in self._places.campaigns]

    def again(self, count: int) -> list[Message]:
        """Return recent judgments once more, in their order."""
        recent = list(self._recent)
        start = self._chance.randrange(max(len(recent) - count, 1))
        return recent[start : start + count]

    def retraction(self) -> Message:
        """Return a command that retracts some judgments of a campaign, or those of a judge."""
        place = self._chance.choice(self._places.long)
        if self._chance.random() < 0.3:
            return self._told(place, {"action": "retract", "judge": self._chance.choice(JUDGES)})
        ids = list(self._ids[place.campaign])
        chosen = self._chance.sample(ids, k=min(len(ids), 3))
        return self._told(place, {"action": "retract", "judgments": [*chosen, "never-published"]})

    def bad(self) -> Message:
        """Return a record that is no event."""
        return Message(self._chance.choice(self._places.campaigns).campaign.encode(), self._chance.choice(BAD))

    def misrouted(self) -> Message:
        """Return a judgment that comes on the partition of another campaign.

        Its campaign loses no keys: where no state is stored, the first partition that gets a record is the home.
        """
        place = self._chance.choice([place for place in self._places.campaigns if place.is_short])
        message = self.judgment(place)
        others = [number for number in range(self._places.partitions) if number != place.partition]
        key = self._chance.choice([message.key, None, b"another key"])
        return message._replace(key=key, partition=self._chance.choice(others))

    def _command(self) -> Message:
        place = self._chance.choice(self._places.campaigns)
        kinds: list[dict[str, Any]] = [
            {"action": "pause"},
            {"action": "resume"},
            {"action": "change", "settings": {"outstanding": self._chance.randrange(1, 12)}},
            {"action": "withdraw", "system": SYSTEMS[-1]},
            {"action": "add", "system": SYSTEMS[-1]},
            {"action": "exclude", "judge": JUDGES[-1]},
        ]
        if place.campaign in self._closable:
            kinds.append({"action": "close"})
        return self._told(place, self._chance.choice(kinds))

    def _told(self, place: Place, command: dict[str, Any]) -> Message:
        self._number += 1
        at = (NOON + timedelta(seconds=self._number)).isoformat()
        named = {"id": f"command-{self._number}", "campaign": place.campaign, "at": at, **command}
        return Message(place.campaign.encode(), json.dumps(named).encode())
