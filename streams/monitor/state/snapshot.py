"""A campaign as the store had it at one moment, and what the page shows of it, each worked out once when asked for."""

from __future__ import annotations

from functools import cached_property
from time import thread_time
from typing import TYPE_CHECKING

from msgspec import structs

from streams.core.campaign.campaign import Campaign
from streams.monitor.ledger.base import PairSample, Sample
from streams.reports.views import CampaignView, campaign_view, judge_views, pair_views, segment_views

if TYPE_CHECKING:
    from datetime import datetime

    from streams.reports import PairView
    from streams.reports.views import JudgeView, SegmentView
    from streams.stores import Store
    from streams.wire.events import CampaignSettings, Leaderboard, MatchRequest, Rating

MOST_COST = 0.5  # seconds of a snapshot that count; the first of a process takes longer, as it compiles
DIGITS = 5  # of scores in the history, which is drawn and not computed with


class Overview(CampaignView, frozen=True, kw_only=True):
    """How far a campaign is; `rate` is judgments a second over the last minute.

    `separation` is the share of the lines between neighbours that are drawn: 0 is one cluster, 1 a system in each.
    """

    rate: float
    clusters: int
    separation: float
    leader: str | None
    sequence: int


class CampaignSnapshot:
    """What there is to see of a campaign at one offset of its log."""

    def __init__(self, campaign: Campaign, *, head: dict[str, str]) -> None:
        self._campaign = campaign
        self.head = head  # by which it is known whether the store has moved on
        self.cost = 0.0  # in seconds

    @classmethod
    def read(cls, store: Store, name: str) -> CampaignSnapshot | None:
        """Read a campaign; None if there is none."""
        head = store.head(name)  # before the state, so that a change in between is seen next time
        stored = store.outline(name)
        if stored is None:
            return None
        began = thread_time()
        snapshot = cls(Campaign.restore(name, stored), head=head)
        snapshot.leaderboard, snapshot.view  # noqa: B018 - in this thread, not in one that has to be quick
        snapshot.cost = min(thread_time() - began, MOST_COST)
        return snapshot

    @property
    def settings(self) -> CampaignSettings:
        """Give the settings in force."""
        return self._campaign.status.settings

    @property
    def requests(self) -> tuple[MatchRequest, ...]:
        """Return the outstanding match requests."""
        return tuple(self._campaign.requests.outstanding.values())

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """Give the ranking."""
        return self._campaign.leaderboard()

    @cached_property
    def view(self) -> CampaignView:
        """Sum the campaign up."""
        return campaign_view(self._campaign)

    @cached_property
    def ratings(self) -> tuple[Rating, ...]:
        """Give every system's rating."""
        return self._campaign.ratings(origin=self.head.get("partition", "log"))

    @cached_property
    def judges(self) -> list[JudgeView]:
        """Report on the judges."""
        return judge_views(self._campaign)

    @cached_property
    def segments(self) -> list[SegmentView]:
        """Report on the segments."""
        return segment_views(self._campaign)

    @cached_property
    def pairs(self) -> list[PairView]:
        """Report on the pairs."""
        return pair_views(self._campaign)

    def pair_sample(self) -> PairSample:
        """Count the pairs for the history."""
        names = self._campaign.tables.systems.names
        met = self._campaign.tables.met
        return PairSample(
            sequence=self.leaderboard.sequence,
            judgments=self.leaderboard.judgments,
            systems=tuple(names),
            met=tuple(count for i in range(len(names)) for count in met[i, i + 1 : len(names)].tolist()),
        )


def overview(view: CampaignView, board: Leaderboard, *, rate: float) -> Overview:
    """Sum a campaign up with a leaderboard that may be newer than the rest.

    >>> from streams.core.campaign.campaign import Campaign
    >>> campaign = Campaign("c")
    >>> overview(campaign_view(campaign), campaign.leaderboard(), rate=0.0).separation
    1.0
    """
    clusters, systems = max((row.cluster for row in board.rows), default=0), len(board.rows)
    fields = structs.asdict(view) | {
        "judgments": board.judgments,
        "systems": systems,
        "offset": board.offset,
        "rate": rate,
        "clusters": clusters,
        "separation": (clusters - 1) / (systems - 1) if systems > 1 else 1.0,
        "leader": board.rows[0].system if board.rows else None,
        "sequence": board.sequence,
    }
    return Overview(**fields)


def sample_of(board: Leaderboard, *, at: datetime) -> Sample:
    """Take down a leaderboard for the history."""
    return Sample(
        sequence=board.sequence,
        judgments=board.judgments,
        at=at,
        rows={row.system: (round(row.score, DIGITS), round(row.deviation, DIGITS), row.rank) for row in board.rows},
    )
