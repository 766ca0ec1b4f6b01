"""The votes that are counted while a log is rated are those of the log."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from streams.core import kernels
from streams.core.campaign.campaign import Campaign
from streams.core.judges import Votes
from streams.offline import vote_arrays
from streams.offline.keeping import ExaminedCampaign
from streams.offline.rating import JUDGE_CODES
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


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("slots", [2, 2**16])
def test_counted_votes_are_those_of_the_log(monkeypatch: pytest.MonkeyPatch, is_compiled: bool, slots: int) -> None:
    monkeypatch.setattr(kernels, "suited", lambda name, _: (kernels.compiled if is_compiled else kernels.plain)(name))
    monkeypatch.setattr(vote_arrays, "is_loaded", lambda: is_compiled)
    monkeypatch.setattr(vote_arrays, "_ROOM", slots)
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


def test_judges_that_are_tested_at_the_end_are_not_followed_vote_by_vote() -> None:
    log = [replace(each, campaign="c", judge="busy" if k % 10 else "other") for k, each in enumerate(crowd_log(200))]
    followed, examined = Campaign("c"), ExaminedCampaign("c")
    for campaign in (followed, examined):
        campaign.apply(range(len(log)), log)
    expected, found = followed.leaderboard(), examined.leaderboard()
    about_judges = tuple(each for each in expected.cautions if each.code in JUDGE_CODES)
    assert about_judges
    assert replace(found, cautions=(*found.cautions, *about_judges)) == expected
