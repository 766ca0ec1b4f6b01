"""Generate the sample log: a simulated crowd compares the answers of seven assistants, two at a time.

The systems and judges are invented. The same code and seed give the same file, byte for byte:

    make sample
"""

from __future__ import annotations

import csv
import io
import sys
from datetime import UTC, datetime, timedelta

import numpy as np

from streams.crowd import Crowd, Skills, recruit
from streams.wire.events import MatchRequest

SEED = 1
JUDGMENTS = 3000
JUDGES = 40
PROMPTS = 300
CARELESS = 0.1  # share of the judges who answer at random
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
# Two pairs are close to each other, so that a ranking of this log has clusters of more than one system.
SKILLS = Skills(
    {"cedar": 0.75, "birch": 0.70, "maple": 0.35, "aspen": 0.10, "willow": 0.07, "alder": -0.40, "hazel": -0.90}
)
COLUMNS = ("prompt_id", "model_a", "model_b", "winner", "judge", "tstamp")
WINNERS: dict[tuple[int, ...], str] = {(1, 2): "model_a", (2, 1): "model_b", (1, 1): "tie"}


def sample_csv() -> str:
    """Return the sample log: an arena CSV, in the order of time."""
    random = np.random.default_rng(SEED)
    crowd = Crowd(recruit(JUDGES, careless=CARELESS, random=random), SKILLS, start=START, random=random)
    names = sorted(SKILLS.systems)
    crowd.ask(
        MatchRequest(
            id=str(number),
            campaign="arena",
            systems=tuple(names[place] for place in random.choice(len(names), size=2, replace=False)),
            segment=f"prompt-{random.integers(1, PROMPTS + 1)}",
            why="drawn at random",
            information=0.0,
            expires_at=START + timedelta(days=365),
        )
        for number in range(JUDGMENTS)
    )
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for judgment in crowd.answer(JUDGMENTS):
        winner = WINNERS[judgment.ranks or ()]
        at = f"{judgment.at:%Y-%m-%dT%H:%M:%SZ}"
        rows.writerow((judgment.segment, *judgment.systems, winner, judgment.judge, at))
    return text.getvalue()


if __name__ == "__main__":
    sys.stdout.write(sample_csv())
