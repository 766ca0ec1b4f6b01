"""The state of a campaign in the store at one moment. Each view of it is computed once, when it is needed."""

from __future__ import annotations

from functools import cached_property
from time import thread_time
from typing import TYPE_CHECKING

from msgspec import structs

from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.monitor.ledger.base import PairSample
from streams.monitor.state.lookup import UnknownCampaign
from streams.reports.category_views import TagView, category_views, find_category_boards
from streams.reports.views import CampaignView, campaign_view, detection_power, judge_views, pair_views, segment_views

if TYPE_CHECKING:
    from streams.core.judges.power import DetectionPower
    from streams.reports import PairView
    from streams.reports.views import JudgeView, SegmentView
    from streams.stores import Store
    from streams.wire.events import CampaignSettings, Leaderboard, MatchRequest, Rating

MOST_COST = 0.5  # seconds; the first snapshot of a process takes longer because kernels are compiled
ROW_COST = 2e-5  # seconds; at most so many more for each row


class Overview(CampaignView, frozen=True, kw_only=True):
    """The progress of a campaign. `rate` is judgments per second over the last minute.

    `problem` is an unexpected error of the monitor while it read the campaign. The rest is then as it was before.
    `rerun_progress` is the share of the log that was read, while a worker rates the campaign again.

    `separation` is the share of neighbouring systems with a line between them: 0 means one cluster, 1 means one
    cluster per system. Systems of different islands are not neighbours: nothing is known about their order.
    """

    rate: float
    clusters: int
    separation: float
    leader: str | None
    sequence: int
    problem: str | None = None
    rerun_progress: float | None = None


class CampaignSnapshot:
    """A campaign as it was at one offset of its log."""

    def __init__(
        self, campaign: ReadOnlyCampaign, *, head: dict[str, str], published: Leaderboard | None = None
    ) -> None:
        self._campaign = campaign
        self._published = published
        self.head = head  # if the store's head differs, the snapshot is old
        self.cost = 0.0  # seconds
        self.board_cost: float | None = None  # seconds for the leaderboard; None: the published one was taken

    @classmethod
    def read(cls, store: Store, name: str, published: Leaderboard | None = None) -> CampaignSnapshot | None:
        """Read a campaign. Return None if it does not exist, and raise UnknownCampaign if it was deleted.

        The leaderboard is the one that a worker `published`, if it is given and not newer than the store.
        """
        began = thread_time()
        head = store.read_head(name)  # before the state, so that a change in between is seen next time
        stored = store.read(name, with_seen=False)
        if stored is None:
            return None
        snapshot = cls(ReadOnlyCampaign.restore(name, stored), head=head, published=published)
        if snapshot.view.state == "deleted":
            raise UnknownCampaign(f"the campaign {name!r} was deleted")
        snapshot.leaderboard, snapshot.view  # noqa: B018 - computed here, not in the thread of the event loop
        rows = sum(len(table) for table in stored.tables.values())
        snapshot.cost = min(thread_time() - began, MOST_COST + ROW_COST * rows)
        return snapshot

    @property
    def settings(self) -> CampaignSettings:
        """Return the settings in force, without gold items."""
        return self._campaign.status.published().settings

    @property
    def requests(self) -> tuple[MatchRequest, ...]:
        """Return the outstanding match requests."""
        return tuple(self._campaign.outstanding.values())

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """Return the ranking."""
        if self._published is not None and self._published.offset <= self._campaign.offset:
            return self._published
        began = thread_time()
        board = self._campaign.leaderboard()
        self.board_cost = thread_time() - began
        return board

    @property
    def categories(self) -> tuple[TagView, ...]:
        """Return which leaderboards by category there are."""
        return category_views(self._campaign)

    def category_leaderboard(self, tag: str, value: str) -> Leaderboard:
        """Return the leaderboard of a category. Raise ParameterError if there is none. It is settled once."""
        return find_category_boards(self._campaign, tag, value)[0]

    @cached_property
    def view(self) -> CampaignView:
        """Return the summary of the campaign."""
        return campaign_view(self._campaign)

    @cached_property
    def ratings(self) -> tuple[Rating, ...]:
        """Return the rating of every system."""
        return self._campaign.ratings(origin=self.head.get("partition", "log"))

    @cached_property
    def judges(self) -> list[JudgeView]:
        """Return the report on the judges."""
        return judge_views(self._campaign)

    @cached_property
    def detection_power(self) -> DetectionPower | None:
        """Return what the tests of the judges can find."""
        return detection_power(self._campaign)

    @property
    def suspended(self) -> tuple[str, ...]:
        """Return the judges who are suspended."""
        return self._campaign.status.suspended

    @cached_property
    def suspicious_judges(self) -> list[JudgeView]:
        """Return the report on the judges: first those with a reason to check them, then by number of judgments."""
        return sorted(self.judges, key=lambda judge: (not (judge.suspicious or judge.excluded), -judge.judgments))

    @cached_property
    def segments(self) -> list[SegmentView]:
        """Return the report on the segments."""
        return segment_views(self._campaign)

    @cached_property
    def informative_segments(self) -> list[SegmentView]:
        """Return the report on the segments, by expected information."""
        return sorted(self.segments, key=lambda segment: segment.information or 0.0, reverse=True)

    @cached_property
    def judged_segments(self) -> list[SegmentView]:
        """Return the report on the segments, by number of judgments."""
        return sorted(self.segments, key=lambda segment: segment.judgments, reverse=True)

    @property
    def other_judgments(self) -> int:
        """Return the number of judgments on segments that are not kept one by one."""
        return self._campaign.tables.other_judgments

    @cached_property
    def pairs(self) -> list[PairView]:
        """Return the report on the pairs."""
        return pair_views(self._campaign, self.leaderboard)

    def pair_sample(self) -> PairSample:
        """Return the counts of the pairs, for the history."""
        names = self._campaign.tables.systems.names
        met = self._campaign.tables.met
        return PairSample(
            sequence=self.leaderboard.sequence,
            judgments=self.leaderboard.judgments,
            systems=tuple(names),
            met=tuple(count for i in range(len(names)) for count in met[i, i + 1 : len(names)].tolist()),
        )


def summarize(view: CampaignView, board: Leaderboard, *, rate: float, problem: str | None = None) -> Overview:
    """Return the summary of a campaign with a leaderboard that may be newer than the rest.

    >>> from streams.core.campaign.campaign import Campaign
    >>> campaign = Campaign("c")
    >>> summarize(campaign_view(campaign), campaign.leaderboard(), rate=0.0).separation
    1.0
    """
    clusters, systems = len({(row.island, row.cluster) for row in board.rows}), len(board.rows)
    islands = len({row.island for row in board.rows})
    neighbours = systems - islands
    fields = structs.asdict(view) | {
        "judgments": board.judgments,
        "systems": systems,
        "offset": board.offset,
        "rate": rate,
        "clusters": clusters,
        "separation": (clusters - islands) / neighbours if neighbours else float(systems < 2),
        "leader": board.rows[0].system if board.rows else None,
        "sequence": board.sequence,
        "problem": problem,
    }
    return Overview(**fields)
