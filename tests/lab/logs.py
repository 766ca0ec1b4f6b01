"""A small log, and every experiment in a size for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.lab.experiments import Log
from streams.wire.events import Judgment
from tests.builders import judgment

QUICK: dict[str, dict[str, Any]] = {
    "prediction": {"sizes": [40, 80], "repeats": 2},
    "ways": {"sizes": [20, 40], "ways": [2, 4], "repeats": 2},
    "selection": {"sizes": [30, 60], "repeats": 2, "profiles": ["wmt", "printed", "online"]},
    "ranking": {"runs": 50},
    "clusters": {"sizes": [60, 200], "models": ["expected-wins", "trueskill-selects"], "runs": 10},
    "correlation": {"sizes": [60, 120], "repeats": 2, "baselines": 2, "models": ["expected-wins", "two-stage", "grm"]},
    "noise": {"sizes": [60, 120], "shares": [0.0, 0.5], "repeats": 2, "baselines": 2},
    "gold": {"runs": [2, 5], "all_runs": 10, "repeats": 3},
    "items": {"size": 100, "repeats": 2, "segments": 8},
    "competitions": {
        "sizes": [40, 80],
        "repeats": 2,
        "held_out": 200,
        "models": ["uniform", "independent-pairs", "hopkins-may"],
    },
    "abilities": {"size": 200, "repeats": 2},
    "online": {},
    "annotators": {"margin": 1, "fewest": 3},
    "official": {"runs": 50},
}


def rankings(
    count: int = 240, *, seed: int = 0, systems: int = 5, ways: int = 4, noise: float = 1.0, campaign: str = "c"
) -> list[Judgment]:
    """Draw rankings of systems that get worse with their number, by researchers and by others."""
    random = np.random.default_rng(seed)
    log = []
    for number in range(count):
        shown = random.choice(systems, size=ways, replace=False)
        ranks = np.unique(np.round(shown + noise * random.normal(size=ways)), return_inverse=True)[1] + 1
        who = random.integers(9)
        log.append(
            judgment(
                number,
                campaign=campaign,
                systems=tuple(f"system-{i}" for i in shown),
                ranks=tuple(ranks.tolist()),
                judge=f"researcher-{who}" if who < 4 else f"turker-{who}",
                segment=f"segment-{random.integers(40)}",
            )
        )
    return log


def small_log(*, seed: int = 0) -> Log:
    return Log.of(rankings(seed=seed), file="small")
