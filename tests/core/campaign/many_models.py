"""Rate one log with every online model, and print a hash of each campaign: `python -m tests.core.campaign.many_models`.

The log is made of integers only, so that it is the same in every process.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from streams.pipeline.embedded import Embedded
from streams.wire.events import CampaignSettings, Create
from tests.builders import NOON, judgment

if TYPE_CHECKING:
    from streams.wire.events import Command, Judgment

JUDGMENTS = 500
SYSTEMS = tuple(f"system-{number}" for number in range(6))
USUAL: dict[str, Any] = {"systems": SYSTEMS, "replicas": 0}
CAMPAIGNS: dict[str, dict[str, Any]] = {
    "trueskill": {},
    "variance": {"policy": "variance"},
    "free-for-all": {"parameters": {"ways": "free-for-all"}},
    "wmt": {"parameters": {"profile": "wmt"}, "budget": 5000},
    "judges": {"model": "trueskill-judges"},
    "grm": {"model": "grm", "parameters": {"sensitivity": 1.3, "deviation": 1.1}},
    "grm-baseline": {"model": "grm", "baseline": "system-0"},
    "grm-sgd": {"model": "grm", "parameters": {"step": "sgd"}},
    "grm-decay": {"model": "grm", "parameters": {"step": "sgd", "decay": 0.3}},
    "assessment": {"model": "assessment"},
    "assessment-raw": {"model": "assessment", "parameters": {"scale": "raw"}, "policy": "variance"},
    "replicas": {"replicas": 40},  # the last one, because it loads the compiled kernels
}


def records_of(campaign: str) -> list[Judgment | Command]:
    """Return the command that creates a campaign, and judgments with ties and surprises."""
    settings = CampaignSettings(**(USUAL | CAMPAIGNS[campaign]))
    scores = settings.model == "assessment"
    random = np.random.default_rng(7)
    log: list[Judgment | Command] = [Create(id="create", campaign=campaign, at=NOON, settings=settings)]
    for number in range(JUDGMENTS):
        shown = random.permutation(len(SYSTEMS))[: 1 if scores else random.integers(2, 5)]
        ranks = tuple(int(system + random.integers(0, 8)) // 3 + 1 for system in shown)
        log.append(
            judgment(
                number,
                campaign=campaign,
                systems=tuple(SYSTEMS[system] for system in shown),
                ranks=None if scores else ranks,
                score=float(random.integers(0, 101)) if scores else None,
                judge=f"judge-{random.integers(5)}",
                segment=f"segment-{random.integers(9)}",
            )
        )
    return log


def hashes() -> dict[str, str]:
    """Return a hash of everything that is stored of each campaign, of its match requests and of its rank ranges."""
    stream = Embedded()
    for name in CAMPAIGNS:
        for event in records_of(name):
            stream.publish(event)
    assert stream.run() == len(CAMPAIGNS) * (JUDGMENTS + 1)
    found = {}
    for name in CAMPAIGNS:
        stored = stream.store.read(name)
        assert stored is not None
        campaign = stream.campaign(name)
        assert campaign.counts.judgments > JUDGMENTS / 3  # those without the baseline are rejected
        tables = sorted((table, sorted(rows.items())) for table, rows in stored.tables.items())
        content = msgspec.msgpack.encode((stored.meta, tables, campaign.leaderboard().rows))
        found[name] = hashlib.sha256(content).hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(hashes()))  # by plain kernels
    print(json.dumps(hashes()))  # by compiled kernels, which the last campaign has loaded
