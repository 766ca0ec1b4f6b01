"""How a log is to be ranked: the model with its parameters, the rank ranges and the number of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.core.campaign.campaign import Campaign
from streams.core.models import create
from streams.core.ranking import ENGINES, GROUPS
from streams.core.ranking_models import RANKING_MODELS, RankingModel, find_ranking_model
from streams.errors import ParameterError, suggestion
from streams.offline.keeping import ExaminedCampaign, KeepingCampaign
from streams.offline.scores import ANY_SCORE
from streams.wire.events import CampaignSettings
from streams.wire.score_range import DEFAULT_SCORE_RANGE, check_score_range

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.methods import Method
    from streams.wire.events import Parameter

DEFAULT_MODEL = "trueskill"
REPLICAS = 200
WMT = "wmt"


@dataclass(frozen=True, kw_only=True)
class RankingPlan:
    """How to rank a log. `settings` are those of the campaigns that rate it.

    An online model rates the log in these campaigns. A `method` gets their pairs, or only the counts of each pair;
    the campaigns then rate by the default model, for the history of ratings.
    """

    model: RankingModel
    ranges: str
    runs: int
    settings: CampaignSettings
    method: Method | None = None
    baseline: str | None = None

    @property
    def campaign_type(self) -> type[Campaign]:
        """Return the type of the campaigns, by what they must keep in memory."""
        if self.method is not None and self.method.whole_log:
            return KeepingCampaign
        return ExaminedCampaign if self.ranges == GROUPS and self.model.rates == "rankings" else Campaign

    @property
    def samples(self) -> str:
        """Return where the samples behind the rank ranges come from, or "" if nothing is sampled.

        >>> plan_ranking("elo").samples
        'bootstrap, 100 runs'
        """
        if self.ranges in (GROUPS, "closed"):
            return ""
        online = self.ranges == "bootstrap" and self.method is None
        return f"{self.ranges}, {self.settings.replicas if online else self.runs:,} runs"


def plan_ranking(
    model: str = DEFAULT_MODEL,
    *,
    ranges: str | None = None,
    parameters: Mapping[str, Parameter] | None = None,
    baseline: str | None = None,
    runs: int | None = None,
    score_range: Sequence[float] | None = None,
) -> RankingPlan:
    """Check how a log is to be ranked, or raise ParameterError. The defaults are those of the model.

    >>> plan = plan_ranking("expected-wins")
    >>> plan.ranges, plan.runs
    ('bootstrap', 1000)
    """
    found, given = find_ranking_model(model), dict(parameters or {})
    engine = choose_ranges(found, ranges)
    found.check_names(given)
    if baseline is not None and not found.takes_baseline:
        suited = ", ".join(name for name, each in RANKING_MODELS.items() if each.takes_baseline)
        raise ParameterError(
            f"the model {model!r} has no baseline, but {baseline!r} is given; leave it out, or choose one of: {suited}"
        )
    if engine == WMT and given:
        raise ParameterError(
            f"ranges {WMT!r} are the official procedure, which has its own parameters; leave out {', '.join(given)}"
        )
    rates_scores = found.rates == "scores"
    if score_range is not None:
        check_score_range(score_range)
        if not rates_scores:
            raise ParameterError(f"the model {model!r} rates rankings and no scores; omit the score range")
    if not found.live:
        from streams.core.methods.registry import create_method

        return RankingPlan(
            model=found,
            ranges=engine,
            runs=runs or found.runs,
            settings=CampaignSettings(model=DEFAULT_MODEL, outstanding=0),
            method=create_method(model, given),
            baseline=baseline,
        )
    settings = CampaignSettings(
        model=model,
        parameters=given,
        baseline=baseline,
        score_range=tuple(score_range or (ANY_SCORE if rates_scores else DEFAULT_SCORE_RANGE)),
        outstanding=0,
        replicas=REPLICAS if engine == "bootstrap" else 0,
    )
    if problem := create(model, settings.parameters).check_settings(settings):
        raise ParameterError(f"model {model!r}: {problem.message}")
    return RankingPlan(model=found, ranges=engine, runs=runs or found.runs, settings=settings, baseline=baseline)


def choose_ranges(model: RankingModel, ranges: str | None = None) -> str:
    """Return the rank ranges to compute. Without `ranges`, they are the default of the model.

    >>> choose_ranges(RANKING_MODELS["trueskill"])
    'groups'
    """
    if ranges is None:
        return model.ranges[0]
    if ranges not in ENGINES:
        raise ParameterError(f"no ranges {ranges!r}; {suggestion(ranges, ENGINES)}")
    if ranges not in model.ranges:
        has, suited = ", ".join(model.ranges), [name for name, each in RANKING_MODELS.items() if ranges in each.ranges]
        why = "; groups do not depend on the order of the log" if GROUPS in model.ranges else ""
        raise ParameterError(
            f"the model {model.name!r} has no ranges {ranges!r}; it has: {has}{why}; "
            f"models with {ranges}: {', '.join(suited)}"
        )
    return ranges
