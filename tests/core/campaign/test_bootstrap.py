"""The online bootstrap: weights by the judgment's id alone, and ranges that agree with an ordinary bootstrap."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from scipy import stats

from streams.core import kernels
from streams.core.campaign.bootstrap import Bootstrap, weights
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.columns import Columns
from streams.core.models import PairParameters
from streams.errors import StoreOutdated
from streams.wire import events
from tests.builders import crowd_log, judgment, unzip


def test_weights_are_poisson_and_independent() -> None:
    drawn = weights(np.arange(20_000) * 7919, 200)
    counts = np.bincount(drawn[:, :50].reshape(-1), minlength=6)[:6]
    expected = stats.poisson(1).pmf(np.arange(6)) * 50 * 20_000
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected.max())
    correlation = np.corrcoef(drawn[:, :40].T.astype(float)) - np.eye(40)
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)


def test_weights_depend_on_the_judgment_and_not_on_its_neighbours() -> None:
    keys = np.array([3, 1 << 31, 77])
    assert (weights(keys, 101)[1] == weights(keys[1:2], 101)[0]).all()
    assert (weights(keys, 101) == weights(keys, 200)[:, :101]).all()
    assert (weights(keys[:1], 200) != weights(keys[2:], 200)).any()


def test_a_replica_saw_each_judgment_as_often_as_its_weight_says() -> None:
    columns = Columns()
    for offset, entry in enumerate(crowd_log(60, systems=4)):
        systems = [int(name[-1]) for name in entry.systems]
        columns.append(offset, entry, systems=systems, judge=0, segment=0)
    batch, keys = columns.admitted().batch, np.array(columns.keys)
    replicas = Bootstrap(40, PairParameters(margin=0.45))
    replicas.grow(4)
    replicas.apply(batch, keys, ["j"])
    for replica in (0, 17, 39):
        mean, variance = np.zeros(4), np.ones(4)
        for k, weight in enumerate(weights(keys, 40)[:, replica]):
            for _ in range(weight):
                first = 2 * k
                kernels.plain("pairs").rate_rankings(
                    mean,
                    variance,
                    np.array([[0.45, np.inf]]),
                    batch.systems[first : first + 2],
                    batch.ranks[first : first + 2],
                    np.array([0, 2]),
                    np.zeros(1, np.int64),
                    1.118,
                )
        row = np.frombuffer(replicas.dump_row(2), "<f8")
        assert (row[replica], row[80 + replica]) == (mean[2], variance[2])


def test_in_a_replica_by_judge_a_judge_counts_as_often_as_their_weight_says() -> None:
    log = crowd_log(60, systems=4)
    names = sorted({entry.judge for entry in log})
    drawn = weights(np.array([crc32(name.encode()) for name in names]), 40)
    replicas = Bootstrap(40, PairParameters(margin=0.45))
    replicas.grow(4)
    for part in (log[:23], log[23:]):
        columns = Columns()
        for offset, entry in enumerate(part):
            systems = [int(name[-1]) for name in entry.systems]
            columns.append(offset, entry, systems=systems, judge=names.index(entry.judge), segment=0)
        replicas.apply(columns.admitted().batch, np.array(columns.keys), names)
    for replica in (0, 17, 39):
        mean, variance = np.zeros(4), np.ones(4)
        for entry in log:
            pair, ranks = np.array([int(name[-1]) for name in entry.systems]), np.array(entry.ranks)
            for _ in range(drawn[names.index(entry.judge), replica]):
                kernels.plain("pairs").rate_pair(mean, variance, *pair, ranks[0] - ranks[1], 1.118, 0.45)
        row = np.frombuffer(replicas.dump_row(2), "<f8")
        assert (row[40 + replica], row[120 + replica]) == (mean[2], variance[2])


def grm_board(judges: int) -> tuple[events.Row, ...]:
    """Rank two systems, of which two judges always prefer the one, and all others the other."""
    campaign = Campaign("c", events.CampaignSettings(model="grm", replicas=200))
    log = [
        judgment(number, judge=f"j{number % judges}", ranks=(1, 2) if number % judges > 1 else (2, 1))
        for number in range(1, 241)
    ]
    campaign.apply(range(len(log)), log)
    return campaign.leaderboard().rows


def test_grm_has_ranges_for_other_judges_from_five_judges_on() -> None:
    for row in grm_board(4):
        assert (row.judge_rank_low, row.judge_rank_high) == (None, None)
    rows = grm_board(7)  # five against two
    assert rows[1].line_above == "judgments"
    assert [(row.judge_rank_low, row.judge_rank_high) for row in rows] == [(1, 2), (1, 2)]


def test_replicas_of_an_earlier_version_are_outdated() -> None:
    replicas = Bootstrap(40, PairParameters())
    replicas.grow(1)
    with pytest.raises(StoreOutdated, match="by judge"):
        replicas.load_row(0, np.zeros(80).tobytes())


def test_what_was_dumped_loads_to_the_same_bits() -> None:
    one, other = (Bootstrap(40, PairParameters(beta=1.0, margin=0.1)) for _ in range(2))
    for replicas in (one, other):
        replicas.grow(3)
    columns = Columns()
    columns.append(0, judgment(1), systems=[0, 2], judge=0, segment=0)
    one.apply(columns.admitted().batch, np.array(columns.keys), ["j"])
    for system in range(3):
        other.load_row(system, one.dump_row(system))
    assert [one.dump_row(system) for system in range(3)] == [other.dump_row(system) for system in range(3)]


def test_systems_that_were_never_judged_may_stand_anywhere() -> None:
    replicas = Bootstrap(40, PairParameters(beta=1.0, margin=0.1))
    replicas.grow(3)
    best, worst = replicas.ranges([0, 1, 2])
    assert (best.tolist(), worst.tolist()) == ([1, 1, 1], [3, 3, 3])


@pytest.mark.parametrize("replicas", [0, 200])
def test_ranges_hold_the_truth_and_close_as_judgments_come(replicas: int) -> None:
    settings = events.CampaignSettings(replicas=replicas)
    widths = []
    for count in (60, 3000):
        campaign = Campaign("campaign-0", settings)
        campaign.apply(*unzip(list(enumerate(crowd_log(count, systems=6, seed=9)))))
        rows = {row.system: row for row in campaign.leaderboard().rows}
        assert all(rows[f"system-{i}"].rank_low <= i + 1 <= rows[f"system-{i}"].rank_high for i in range(6))
        widths.append(sum(row.rank_high - row.rank_low for row in rows.values()))
    assert widths[1] < widths[0]
