"""The summary of a campaign counts clusters and lines island by island."""

from __future__ import annotations

import pytest

from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.monitor.state.snapshot import summarize
from streams.reports.views import campaign_view
from streams.wire.events import Leaderboard, Row

EMPTY = ReadOnlyCampaign("c")


def row(place: int, *, cluster: int, island: int = 1) -> Row:
    return Row(
        system=f"system-{place}",
        rank=1,
        rank_low=1,
        rank_high=1,
        cluster=cluster,
        score=0.0,
        deviation=0.1,
        judgments=1,
        island=island,
    )


@pytest.mark.parametrize(
    ("places", "clusters", "separation"),
    [
        ([], 0, 1.0),
        ([(1, 1)], 1, 1.0),
        ([(1, 1), (1, 1)], 1, 0.0),
        ([(1, 1), (2, 1), (2, 1)], 2, 0.5),
        ([(1, 1), (2, 1), (1, 2), (1, 2)], 3, 0.5),
        ([(1, 1), (1, 2)], 2, 0.0),  # never compared: nothing separates them
    ],
)
def test_systems_of_different_islands_are_no_neighbours(
    places: list[tuple[int, int]], clusters: int, separation: float
) -> None:
    rows = tuple(row(i, cluster=cluster, island=island) for i, (cluster, island) in enumerate(places))
    board = Leaderboard(campaign="c", model="trueskill", sequence=1, offset=0, judgments=1, rows=rows)
    overview = summarize(campaign_view(EMPTY), board, rate=0.0)
    assert (overview.clusters, overview.separation) == (clusters, separation)
