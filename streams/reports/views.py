"""Views of a campaign for people: its progress, judges, segments and pairs, as rows of plain values."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from math import log
from statistics import median
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from streams.core.campaign.gold import GoldTally
from streams.core.campaign.pace import Minute
from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.errors import JudgestreamError, suggestion
from streams.reports import PairView, Report
from streams.wire.quarantine import Quarantine, quarantine_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from streams.core.campaign.state import CampaignMeta
    from streams.core.judges.power import DetectionPower
    from streams.stores.base import Store
    from streams.wire.events import Leaderboard

# The rules for suspicious judges. docs/views.md describes them.
LIKE_CHANCE = 100.0  # odds that the preferences are from a coin, not from a typical judge
FAR_BELOW = 1 / 3  # of the median reliability, sensitivity or seconds of all judges
FEWEST_TIMED = 10  # judgments with a duration, before the seconds count
MOST_FLAGGED = 0.1  # share of judgments that were too fast


class CampaignView(Struct, frozen=True, kw_only=True):
    """The progress of a campaign.

    `kind` is what its judges give, rankings or scores. `baseline` is the system that every judgment must contain.
    In a quarantine the campaign is not rated, and `held` counts the records that wait.
    """

    campaign: str
    state: str
    model: str
    policy: str
    judgments: int
    budget: int | None
    systems: int
    withdrawn: tuple[str, ...]
    judges: int
    excluded: int
    segments: int
    duplicates: int
    rejected: int
    outstanding: int
    offset: int
    newest: datetime
    kind: str = "rankings"
    baseline: str | None = None
    held: int = 0
    quarantine: Quarantine | None = None

    @property
    def label(self) -> str:
        """The state in one word."""
        return self.state if self.quarantine is None else quarantine_label(self.quarantine)


class JudgeView(Struct, frozen=True, kw_only=True):
    """One judge, by pseudonym. Values that the campaign or its model does not know are null.

    `compared` counts the preferences that could be compared with the majority before them; `agreed` of these agreed.
    `gold_passed` and `gold_failed` count gold items, and the pass rate is between `gold_low` and `gold_high` at 95 %.
    `suspicious` lists the reasons to check the judge. It is usually empty. If `tested` is false, the judge has too few
    votes to be tested against the votes of the others, or the campaign does not test.
    """

    judge: str
    judgments: int
    timed: int
    seconds: float | None
    agreed: int
    compared: int
    agreement: float | None
    sensitivity: float | None
    reliability: float | None
    too_fast: int
    excluded: bool
    gold_passed: int = 0
    gold_failed: int = 0
    gold_low: float | None = None
    gold_high: float | None = None
    suspicious: tuple[str, ...] = ()
    tested: bool = False


class SegmentView(Struct, frozen=True, kw_only=True):
    """One segment. `information` is what a judgment is expected to tell about the next line, if the model knows it."""

    segment: str
    judgments: int
    information: float | None


def load_campaign(store: Store, name: str, *, partitions: Iterable[str]) -> ReadOnlyCampaign:
    """Return a campaign from a store. If it does not exist, the error suggests a similar name."""
    stored = store.read(name, with_seen=False)
    if stored is None:
        known = store.list_campaigns(partitions)
        hint = suggestion(name, known) if known else "there is none yet"
        raise JudgestreamError(f"no campaign {name!r}; {hint}")
    campaign = ReadOnlyCampaign.restore(name, stored)
    if campaign.status.state == "deleted":
        raise JudgestreamError(f"the campaign {name!r} was deleted")
    return campaign


def campaign_view(campaign: ReadOnlyCampaign) -> CampaignView:
    """Return the progress of a campaign.

    >>> campaign_view(ReadOnlyCampaign("c")).state
    'open'
    """
    status, tables = campaign.status, campaign.tables
    return CampaignView(
        campaign=campaign.name,
        state=status.state,
        model=campaign.model.name,
        policy=status.settings.policy,
        judgments=campaign.counts.judgments,
        budget=status.settings.budget,
        systems=len(campaign.active),
        withdrawn=status.withdrawn,
        judges=len(tables.judges),
        excluded=len(status.excluded),
        segments=tables.segments.kept,
        duplicates=campaign.counts.duplicates,
        rejected=campaign.counts.rejected,
        outstanding=len(campaign.outstanding),
        offset=campaign.offset,
        newest=campaign.clock,
        kind=campaign.model.kind,
        baseline=campaign.required_system,
        held=campaign.counts.held,
        quarantine=status.quarantine,
    )


def unread_view(meta: CampaignMeta) -> CampaignView:
    """Return what is known about a campaign whose tables can't be read."""
    status, counts = meta.status, meta.counts
    return CampaignView(
        campaign=status.campaign,
        state=status.state,
        model=status.settings.model,
        policy=status.settings.policy,
        judgments=counts.judgments,
        budget=status.settings.budget,
        systems=0,
        withdrawn=status.withdrawn,
        judges=0,
        excluded=len(status.excluded),
        segments=0,
        duplicates=counts.duplicates,
        rejected=counts.rejected,
        outstanding=len(meta.outstanding),
        offset=meta.offset,
        newest=meta.clock,
        held=counts.held,
        quarantine=status.quarantine,
    )


def judge_views(campaign: ReadOnlyCampaign) -> list[JudgeView]:
    """Return the judges, in the order of their first judgments."""
    tables, facts = campaign.tables, campaign.model.judge_facts()
    excluded = frozenset(campaign.status.excluded)
    columns = (tables.judge_agreed, tables.judge_compared, tables.judge_timed)
    judges = []
    for i, name in enumerate(tables.judges.names):
        agreed, compared, timed = (int(column[i]) for column in columns)
        gold = tables.gold.get(i, GoldTally())
        low, high = gold.bounds() if sum(gold) else (None, None)
        judges.append(
            JudgeView(
                judge=name,
                judgments=int(tables.judge_judgments[i]),
                timed=timed,
                seconds=int(tables.judge_duration[i]) / timed / 1000 if timed else None,
                agreed=agreed,
                compared=compared,
                agreement=agreed / compared if compared else None,
                sensitivity=None if facts.sensitivity is None else float(facts.sensitivity[i]),
                reliability=None if facts.reliability is None else float(facts.reliability[i]),
                too_fast=tables.paces.get(name, Minute()).flagged,
                excluded=name in excluded,
                gold_passed=gold.passed,
                gold_failed=gold.failed,
                gold_low=low,
                gold_high=high,
            )
        )
    votes = campaign.judges_so_far()
    tested = {votes.judges[i] for i in votes.residuals.judge.tolist()}
    judges = [replace(judge, tested=judge.judge in tested) for judge in judges]
    return with_suspicions(judges, {judge: [flag.message for flag in each] for judge, each in votes.flags().items()})


def detection_power(campaign: ReadOnlyCampaign) -> DetectionPower | None:
    """Return what the tests of the judges can find, or None if the campaign does not test them."""
    if campaign.model.kind == "scores" or campaign.status.settings.suspend_judges == "off":
        return None
    return campaign.judges_so_far().power()


def with_suspicions(judges: Sequence[JudgeView], flags: Mapping[str, Sequence[str]] | None = None) -> list[JudgeView]:
    """Return the judges with the reasons to check them. Each judge is compared with all judges.

    `flags` are reasons by judge that come from the votes themselves.
    """
    agreed, compared = sum(judge.agreed for judge in judges), sum(judge.compared for judge in judges)
    typical = (agreed + 1) / (compared + 2)
    reliability, sensitivity, seconds = (
        FAR_BELOW * median([value for judge in judges if (value := getattr(judge, name)) is not None] or [0.0])
        for name in ("reliability", "sensitivity", "seconds")
    )
    marked = []
    for judge in judges:
        reasons = {
            "like chance": chance_odds(judge.agreed, judge.compared, typical=typical) > LIKE_CHANCE,
            "unreliable": judge.reliability is not None and judge.reliability < reliability,
            "insensitive": judge.sensitivity is not None and judge.sensitivity < sensitivity,
            "hasty": judge.seconds is not None and judge.timed >= FEWEST_TIMED and judge.seconds < seconds,
            "too fast": judge.too_fast > MOST_FLAGGED * judge.judgments,
        }
        marks = (reason for reason, holds in reasons.items() if holds)
        marked.append(replace(judge, suspicious=(*marks, *(flags or {}).get(judge.judge, ()))))
    return marked


def chance_odds(agreed: int, compared: int, *, typical: float) -> float:
    """Return the odds that `agreed` of `compared` came from a coin, not from a typical judge.

    A typical judge agrees with probability `typical`.

    >>> chance_odds(8, 10, typical=0.8) < 1 < chance_odds(5, 10, typical=0.8)
    True
    """
    if typical <= 0.5:
        return 0.0  # there is no consensus to compare with
    evidence = agreed * log(0.5 / typical) + (compared - agreed) * log(0.5 / (1.0 - typical))
    return float(2.0 ** min(evidence / log(2.0), 1000.0))


def segment_views(campaign: ReadOnlyCampaign) -> list[SegmentView]:
    """Return the segments, in the order of their first judgments."""
    tables = campaign.tables
    # What a verdict tells is about the two systems whose line comes next.
    ahead = campaign.leaderboard().outlook if campaign.model.learns_segments else None
    line = tuple(campaign.active[:2])
    if ahead is not None and ahead.above is not None and ahead.below is not None:
        line = tables.systems.index[ahead.above], tables.systems.index[ahead.below]
    information = campaign.model.segment_information(*line) if len(line) == 2 else None
    return [
        SegmentView(
            segment=name,
            judgments=int(tables.segment_judgments[i]),
            information=None if information is None else float(information[i]),
        )
        for i, name in enumerate(tables.segments.names)
        if i != tables.segments.shared
    ]


def pair_views(campaign: ReadOnlyCampaign, board: Leaderboard | None = None) -> list[PairView]:
    """Return the pairs of systems that met, each from the side of the higher ranked system.

    A caller who has the leaderboard of the campaign gives it, because making one takes time.
    """
    return Report(leaderboard=board or campaign.leaderboard(), counts=campaign.tables.pair_counts()).pairs()
