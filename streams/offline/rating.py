"""Rate a whole log without servers, as a worker does.

The memory does not grow with the length of the log, unless a method needs all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from streams.core import kernels
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.options import CampaignOptions
from streams.core.campaign.pseudonyms import Pseudonyms
from streams.core.campaign.retractions import Retractions, TakenBack
from streams.core.judges import examine_judges, judge_cautions
from streams.core.methods import CountMethod
from streams.core.ranking import GROUPS, PosteriorScores, rank_rankings, rank_scores
from streams.errors import FormatError, ParameterError, RecordError, suggestion
from streams.offline.categories import CategoryCampaigns
from streams.offline.keeping import ExaminedCampaign, KeepingCampaign
from streams.offline.planning import WMT
from streams.offline.scores import ANY_SCORE, ScoreRanges
from streams.wire.events import Leaderboard
from streams.wire.scanner import JudgmentColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from streams.core.judges import Votes
    from streams.core.methods import Method
    from streams.formats.unselected import UnselectedChanges
    from streams.offline.categories import CategoryField
    from streams.offline.planning import RankingPlan
    from streams.wire.events import CampaignSettings, Judgment

# After this number of judgments, the log is long enough that compiled kernels repay the time to load numba.
COMPILE_AFTER = 20_000
OBSERVED_AFTER = 1000  # judgments
JUDGE_CODES = frozenset({"one_judge", "position_bias", "favoured_system", "flagged_judges"})


@dataclass
class RatedLog:
    """The campaigns of a log after rating, and the counts of judgments that were read and rejected."""

    campaigns: dict[str, Campaign] = field(default_factory=dict)
    read: int = 0
    rejections: int = 0
    first_rejection: RecordError | None = None
    categories: dict[str, CategoryCampaigns] = field(default_factory=dict)  # by campaign, if the log is divided
    unrated: tuple[str, ...] = ()  # campaigns of which every judgment was rejected; they are not in `campaigns`
    changed: dict[str, Retractions] = field(default_factory=dict)  # verdicts that later ones replace, by campaign

    def check(self, source: str) -> None:
        """Raise FormatError if judgments were read and none was rated."""
        if self.rejections and not self.campaigns:
            raise FormatError(
                f"{source}: nothing was rated: {self.rejections:,} of {self.read:,} judgments were rejected; "
                f"the first: {self.first_rejection}"
            )


def rate(
    batches: Iterable[Sequence[Judgment]],
    settings: CampaignSettings,
    *,
    only: Collection[str] = (),
    observe: Callable[[Campaign], None] | None = None,
    campaign_type: type[Campaign] = Campaign,
    judge_key: str = "",
    by: CategoryField | None = None,
    changed: Mapping[str, Retractions] | None = None,
    remember: bool = False,
    unselected: Sequence[UnselectedChanges] = (),
) -> RatedLog:
    """Apply the judgments of a log to campaigns with these settings. The offset of a judgment is its place in the log.

    With `only`, other campaigns are ignored. `observe` is called with a campaign after each of its batches.
    `campaign_type` is that of the plan, by which the log is ranked. Judges have their names in the log, but are in the
    groups of their pseudonyms with `judge_key`, so that the board is that of workers with this key. With `by`,
    each value of a tag or field is also rated by itself.

    As long as the result has `changed` verdicts, the log is to be rated once more with them: then they are left out. A
    caller that reads a log only once may `remember` verdicts instead, as a worker does. `unselected` has the changes
    that are in the log, but not in these batches. They are complete when all batches were read.

    >>> from streams.wire.events import EPOCH, CampaignSettings, Judgment
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> rate([[verdict]], CampaignSettings()).campaigns["c"].counts.judgments
    1
    """
    rated = RatedLog()
    options = CampaignOptions(group_names=Pseudonyms(judge_key.encode()), remember_verdicts=remember)
    known: set[str] = set()
    ranges = ScoreRanges() if settings.score_range == ANY_SCORE else None
    systems: dict[str, set[str]] = {}  # by campaign, until its baseline has been seen
    for judgments in batches if observe is None else _divided(batches):
        places = range(rated.read, rated.read + len(judgments))
        rated.read += len(judgments)
        if rated.read >= COMPILE_AFTER:
            kernels.compiled("pairs")
        for name, offsets, part in _by_campaign(places, judgments):
            known.add(name)
            if only and name not in only:
                continue
            campaign = rated.campaigns.get(name)
            if campaign is None:
                campaign = rated.campaigns[name] = campaign_type(name, settings, options=options)
                campaign.retractions = (changed or {}).get(name, campaign.retractions)
            if ranges is not None:
                ranges.widen(campaign, part)
            if settings.baseline and settings.baseline not in systems.setdefault(name, set()):
                systems[name].update(system for judgment in part for system in judgment.systems)
            rejections = campaign.apply(offsets, part).rejections
            campaign.discard_changes()
            if by is not None:
                if name not in rated.categories:
                    make = partial(campaign_type, name, settings)
                    rated.categories[name] = CategoryCampaigns(by, make, options, campaign.retractions)
                rated.categories[name].apply(offsets, part, rejections)
            if observe is not None:
                observe(campaign)
            if rejections:
                rated.rejections += len(rejections)
                rated.first_rejection = rated.first_rejection or _explain(next(iter(rejections.values())))
    for name in only:
        if name not in known:
            raise ParameterError(f"no campaign {name!r} in the log; {suggestion(name, known)}")
    if settings.baseline:
        for name, found in systems.items():
            _check_baseline(settings.baseline, name, found)
    rated.changed = {} if remember else _find_changed(rated.campaigns, changed or {}, unselected)
    rated.unrated = tuple(name for name, campaign in rated.campaigns.items() if not campaign.counts.judgments)
    for name in rated.unrated:
        del rated.campaigns[name]
    for name, campaign in rated.campaigns.items():
        for category in rated.categories[name].campaigns.values() if by is not None else ():
            category.model.score_range = campaign.model.score_range
    return rated


def _divided(batches: Iterable[Sequence[Judgment]]) -> Iterator[Sequence[Judgment]]:
    """Yield batches that are so small that a campaign is observed often enough. Those of a long file are large."""
    for batch in batches:
        yield from (batch[start : start + OBSERVED_AFTER] for start in range(0, len(batch), OBSERVED_AFTER))


def _find_changed(
    campaigns: Mapping[str, Campaign], known: Mapping[str, Retractions], unselected: Sequence[UnselectedChanges]
) -> dict[str, Retractions]:
    """Return the verdicts that were replaced, by campaign, or nothing if the log was rated without these.

    If it was, a last change may have been rejected. Then the one before it counts.
    """
    found: dict[str, Retractions] = {}
    for name, campaign in campaigns.items():
        parts = [each.replaced.get(name, {}) for each in unselected]
        if campaign.changes is not None:
            parts.append(campaign.changes.last)
        for part in filter(None, parts):
            changes = Retractions(taken_back={judge: TakenBack(0, ids) for judge, ids in part.items()})
            found[name] = found.get(name, Retractions()).joined(changes)
    if known and not any(
        0 <= at < known[name].taken_back[judge].ids[verdict]
        for name, changed in found.items()
        for judge, taken in changed.taken_back.items()
        for verdict, at in taken.ids.items()
    ):
        return {}
    return found


def _explain(rejection: RecordError) -> RecordError:
    """Return the rejection in words that fit any way to rank a log, not only a campaign with an online model."""
    if rejection.reason != "unsuited_to_model":
        return rejection
    message = (
        "the judgment has a score instead of ranks; the model 'assessment' ranks scores, as `judgestream rank` does"
        if rejection.field == "score"
        else "the judgment has ranks instead of a score, and the model 'assessment' rates scores only; choose another "
        "model, for example trueskill, or leave out the model (`judgestream models` lists all)"
    )
    return RecordError(rejection.reason, message, field=rejection.field)


def _by_campaign(
    places: Sequence[int], judgments: Sequence[Judgment]
) -> Iterable[tuple[str, Sequence[int], Sequence[Judgment]]]:
    """Split a batch by campaign. Most batches have one campaign only."""
    if isinstance(judgments, JudgmentColumns):
        for name, rows, part in judgments.split_by_campaign():
            yield name, places if part is judgments else (rows + places[0]).tolist(), part
        return
    names = [judgment.campaign for judgment in judgments]
    for name in dict.fromkeys(names):
        if names.count(name) == len(names):
            yield name, places, judgments
        else:
            mine = [k for k, other in enumerate(names) if other == name]
            yield name, [places[k] for k in mine], [judgments[k] for k in mine]


def make_leaderboard(
    campaign: Campaign,
    plan: RankingPlan,
    *,
    seed: int = 1,
    resample: bool = True,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Leaderboard:
    """Return the leaderboard of a campaign that was rated by this plan."""
    if isinstance(campaign, ExaminedCampaign):
        return _with_judges(campaign.leaderboard(), campaign.votes())
    if plan.method is None and plan.ranges in (GROUPS, "bootstrap"):
        return campaign.leaderboard()
    counts = campaign.tables.pair_counts()
    names: Sequence[str] = counts.systems
    judgments = counts.judgments.tolist()
    if plan.ranges == WMT:
        ranked = rank_scores(
            WMT, counts, runs=plan.runs, seed=seed, resample=resample, threads=threads, progress=progress
        )
    elif isinstance(plan.method, CountMethod):
        ranked = rank_scores(plan.ranges, counts, method=plan.method, runs=plan.runs, seed=seed, progress=progress)
    elif plan.method is not None:
        assert isinstance(campaign, KeepingCampaign), "a method on the whole log needs the campaigns of its plan"
        ranked = rank_rankings(
            _with_baseline(plan, campaign.name, names),
            campaign.rankings(),
            engine=plan.ranges,
            runs=plan.runs,
            seed=seed,
            progress=progress,
        )
    else:
        names, ratings = campaign.tables.systems.names, PosteriorScores(*campaign.model.scores())
        judgments = campaign.tables.system_judgments[: len(names)].tolist()
        ranked = rank_scores(plan.ranges, ratings, runs=plan.runs, seed=seed)
    return Leaderboard(
        campaign=campaign.name,
        model=WMT if plan.ranges == WMT else plan.model.name,
        sequence=campaign.counts.included,
        offset=campaign.offset,
        judgments=campaign.counts.judgments,
        judges=campaign.tables.active_judges,
        rows=ranked.rows(names, judgments),
    )


def _with_judges(board: Leaderboard, votes: Votes) -> Leaderboard:
    """Add what the exact tests of the judges found. They replace what a running campaign knows of its judges."""
    others = tuple(caution for caution in board.cautions if caution.code not in JUDGE_CODES)
    return msgspec.structs.replace(board, cautions=others + judge_cautions(examine_judges(votes)))


def _with_baseline(plan: RankingPlan, campaign: str, systems: Sequence[str]) -> Method:
    assert plan.method is not None
    if plan.baseline is None:
        return plan.method
    _check_baseline(plan.baseline, campaign, systems)
    return msgspec.structs.replace(plan.method, baseline=systems.index(plan.baseline))


def _check_baseline(baseline: str, campaign: str, systems: Collection[str]) -> None:
    if baseline not in systems:
        raise ParameterError(
            f"the baseline {baseline!r} is no system of the campaign {campaign!r}; {suggestion(baseline, systems)}"
        )
