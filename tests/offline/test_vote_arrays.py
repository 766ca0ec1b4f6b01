"""The votes that are counted while a log is rated are those of the log."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from streams.core.judges import Votes
from streams.offline import vote_arrays
from streams.offline.keeping import ExaminedCampaign
from streams.wire.events import Judgment
from tests.builders import crowd_log, judgment, unzip


def mixed_log() -> list[Judgment]:
    """Return matches and rankings of three, with and without durations, and a duplicate."""
    log = [
        replace(each, duration_ms=None if k % 3 else 700 * (k % 7), campaign="c")
        for k, each in enumerate(crowd_log(150, systems=5))
    ]
    log += [
        judgment(1000 + k, systems=("zeta", "alpha", "beta"), ranks=(1 + k % 2, 1, 2 - k % 2), judge=f"j{k % 4}")
        for k in range(12)
    ]
    return [*log, log[0]]


@pytest.mark.parametrize("compact_after", [0, 500_000])
def test_counted_votes_are_those_of_the_log(monkeypatch: pytest.MonkeyPatch, compact_after: int) -> None:
    monkeypatch.setattr(vote_arrays, "COMPACT_AFTER", compact_after)
    log, campaign = mixed_log(), ExaminedCampaign("c")
    for start in range(0, len(log), 20):
        campaign.apply(*unzip(list(enumerate(log))[start : start + 20]))
    counted, expected = campaign.votes(), Votes.of(log[:-1])
    assert (counted.systems, counted.judges) == (expected.systems, expected.judges)
    for name in ("judgments", "judge", "first", "second", "outcome", "size", "count", "timed", "seconds"):
        np.testing.assert_array_equal(getattr(counted, name), getattr(expected, name), err_msg=name)


def test_a_campaign_without_judgments_has_no_votes() -> None:
    votes = ExaminedCampaign("c").votes()
    assert (votes.systems, votes.judges, len(votes.judge)) == ((), (), 0)
