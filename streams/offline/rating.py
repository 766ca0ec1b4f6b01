"""Rate a whole log without servers, as a worker does. The memory does not grow with the length of the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from streams.core import kernels
from streams.core.campaign.campaign import Campaign
from streams.core.models import MODELS
from streams.core.ranking import ENGINES, SCORES, PosteriorScores, RankedScores, rank_scores
from streams.errors import FormatError, ParameterError, suggestion
from streams.offline.scores import ANY_SCORE, ScoreRanges
from streams.wire.events import CampaignSettings
from streams.wire.scanner import JudgmentColumns
from streams.wire.score_range import DEFAULT_SCORE_RANGE, check_score_range

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from streams.errors import RecordError
    from streams.wire.events import Judgment, Leaderboard, Parameter

DEFAULT_MODEL = "trueskill"
REPLICAS = 200
WMT = "wmt"
# After this number of judgments, the log is long enough that compiled kernels repay the time to load numba.
COMPILE_AFTER = 20_000


@dataclass
class RatedLog:
    """The campaigns of a log after rating, and the counts of judgments that were read and rejected."""

    campaigns: dict[str, Campaign] = field(default_factory=dict)
    read: int = 0
    rejections: int = 0
    first_rejection: RecordError | None = None
    unrated: tuple[str, ...] = ()  # campaigns of which every judgment was rejected; they are not in `campaigns`

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
) -> RatedLog:
    """Apply the judgments of a log to campaigns with these settings. The offset of a judgment is its place in the log.

    With `only`, other campaigns are ignored. `observe` is called with a campaign after each of its batches.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> rate([[verdict]], CampaignSettings()).campaigns["c"].counts.judgments
    1
    """
    rated = RatedLog()
    known: set[str] = set()
    ranges = ScoreRanges() if settings.score_range == ANY_SCORE else None
    for judgments in batches:
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
                campaign = rated.campaigns[name] = Campaign(name, settings)
            if ranges is not None:
                ranges.widen(campaign, part)
            rejections = campaign.apply(offsets, part).rejections
            campaign.discard_changes()
            if observe is not None:
                observe(campaign)
            if rejections:
                rated.rejections += len(rejections)
                rated.first_rejection = rated.first_rejection or next(iter(rejections.values()))
    for name in only:
        if name not in known:
            raise ParameterError(f"no campaign {name!r} in the log; {suggestion(name, known)}")
    rated.unrated = tuple(name for name, campaign in rated.campaigns.items() if not campaign.counts.judgments)
    for name in rated.unrated:
        del rated.campaigns[name]
    return rated


def _by_campaign(
    places: Sequence[int], judgments: Sequence[Judgment]
) -> Iterable[tuple[str, Sequence[int], Sequence[Judgment]]]:
    """Split a batch by campaign. Most batches have one campaign only."""
    if isinstance(judgments, JudgmentColumns):
        for name, rows, part in judgments.split_by_campaign():
            yield name, (rows + places[0]).tolist(), part
        return
    names = [judgment.campaign for judgment in judgments]
    for name in dict.fromkeys(names):
        if names.count(name) == len(names):
            yield name, places, judgments
        else:
            mine = [k for k, other in enumerate(names) if other == name]
            yield name, [places[k] for k in mine], [judgments[k] for k in mine]


def choose_engine(model: str, ranges: str | None = None) -> str:
    """Return the engine of rank ranges for a model. Without `ranges`, it is the default of the model.

    >>> choose_engine("expected-wins")
    'bootstrap'
    """
    engines: dict[str, tuple[str, ...]] = {
        name: ("closed", "posterior", "bootstrap") for name, found in MODELS.items() if found.kind == "rankings"
    }
    engines |= {name: ("closed", "posterior") for name, found in MODELS.items() if found.kind != "rankings"}
    engines[DEFAULT_MODEL] += (WMT,)
    engines |= dict.fromkeys(SCORES, ("bootstrap",))
    if model not in engines:
        raise ParameterError(f"no model {model!r}; {suggestion(model, engines)}")
    if ranges is None:
        return engines[model][0]
    if ranges not in ENGINES:
        raise ParameterError(f"no ranges {ranges!r}; {suggestion(ranges, ENGINES)}")
    if ranges not in engines[model]:
        has, fits = ", ".join(engines[model]), ", ".join(name for name, found in engines.items() if ranges in found)
        raise ParameterError(
            f"the model {model!r} has no ranges {ranges!r}; it has: {has}; models with {ranges}: {fits}"
        )
    return ranges


def settings_for(
    model: str,
    engine: str,
    parameters: Mapping[str, Parameter] | None = None,
    *,
    score_range: Sequence[float] | None = None,
) -> CampaignSettings:
    """Return the settings to rate a log with this model and engine. No matches are requested.

    Without a `score_range`, any score is rated, and the range comes from the scores.
    """
    rates_scores = model in MODELS and MODELS[model].kind == "scores"
    if score_range is not None:
        check_score_range(score_range)
        if not rates_scores:
            raise ParameterError(f"the model {model!r} rates rankings and no scores; omit the score range")
    return CampaignSettings(
        score_range=tuple(score_range or (ANY_SCORE if rates_scores else DEFAULT_SCORE_RANGE)),
        model=DEFAULT_MODEL if model in SCORES else model,
        parameters=dict(parameters or {}),
        outstanding=0,
        replicas=REPLICAS if engine == "bootstrap" and model not in SCORES else 0,
    )


def make_leaderboard(
    campaign: Campaign,
    *,
    model: str,
    engine: str,
    runs: int = 1000,
    seed: int = 1,
    resample: bool = True,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Leaderboard:
    """Return the leaderboard of a rated campaign. The model ranks by judgments or by pair counts."""
    counts = campaign.tables.pair_counts()
    if model in SCORES or engine == WMT:
        ranked = rank_scores(
            engine,
            counts,
            score=model if model in SCORES else "expected-wins",
            runs=runs,
            seed=seed,
            resample=resample,
            threads=threads,
            progress=progress,
        )
        rows = ranked.rows(counts.systems, counts.judgments.tolist())
    else:
        names, ratings = campaign.tables.systems.names, PosteriorScores(*campaign.model.scores())
        if campaign.bootstrap is not None:
            best, worst = campaign.bootstrap.ranges(range(len(names)))
            ranked = RankedScores(score=ratings.mean, deviation=ratings.deviation, best=best, worst=worst)
        else:
            ranked = rank_scores(engine, ratings, runs=runs, seed=seed)
        rows = ranked.rows(names, campaign.tables.system_judgments[: len(names)].tolist())
    return msgspec.structs.replace(campaign.leaderboard(), model=WMT if engine == WMT else model, rows=rows)
