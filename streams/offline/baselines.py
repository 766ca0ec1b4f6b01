"""The baseline of a campaign: chosen from its log or from metric scores, with what speaks for each candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from streams.core.methods.baseline_choice import choose_baseline, choose_baseline_by_scores
from streams.core.methods.pairs import Pairs
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.wire.events import Judgment


class BaselineCandidate(Struct, frozen=True, kw_only=True):
    """What is known about a system as a baseline. Values without a log, or without scores, are None."""

    system: str
    chosen: bool
    wins: float | None = None  # shares of its comparisons
    ties: float | None = None
    losses: float | None = None
    information: float | None = None
    score: float | None = None
    distance: float | None = None


class CampaignBaseline(Struct, frozen=True, kw_only=True):
    """The baseline of a campaign. Without a log, the campaign is None."""

    campaign: str | None
    by: Literal["judgments", "scores"]
    baseline: str
    reason: str
    candidates: tuple[BaselineCandidate, ...]


def choose_campaign_baseline(
    campaign: str | None, log: Sequence[Judgment], scores: Mapping[str, float] | None, *, place: str
) -> CampaignBaseline:
    """Choose by the scores if there are any, otherwise by the counts of the log. `place` is for errors."""
    about: dict[str, dict[str, float]] = {}
    by: Literal["judgments", "scores"] = "judgments"
    name, reason = "", ""
    where = f"{place}: campaign {campaign!r}" if campaign is not None else place
    try:
        if campaign is not None:
            pairs = Pairs.of(one for one in log if one.ranks is not None)
            if not pairs.systems and log:
                raise ParameterError("there are scores only, and no comparisons; choose by --scores FILE")
            wins, ties = pairs.counts()
            chosen = choose_baseline(wins, ties, names=pairs.systems)
            met = np.maximum(1, wins.sum(axis=1) + ties.sum(axis=1) + wins.sum(axis=0))
            shares = np.stack([wins.sum(axis=1), ties.sum(axis=1), wins.sum(axis=0)]) / met
            for k, system in enumerate(pairs.systems):
                win, tie, loss = shares[:, k].tolist()
                about[system] = {"wins": win, "ties": tie, "losses": loss, "information": float(chosen.information[k])}
            name, reason = pairs.systems[chosen.system], chosen.reason
        if scores is not None:
            if missing := [system for system in about if system not in scores]:
                raise ParameterError(f"no score of {missing[0]!r}; add it to the scores")
            systems = tuple(scores)
            scored = choose_baseline_by_scores(np.array(list(scores.values()), np.float64), names=systems)
            for k, system in enumerate(systems):
                about.setdefault(system, {}).update(score=scores[system], distance=float(scored.distances[k]))
            by, name, reason = "scores", systems[scored.system], scored.reason
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
    key, sign = ("information", -1.0) if by == "judgments" else ("distance", 1.0)
    candidates = tuple(
        BaselineCandidate(system=system, chosen=system == name, **about[system])
        for system in sorted(about, key=lambda system: (system != name, sign * about[system][key]))
    )
    return CampaignBaseline(campaign=campaign, by=by, baseline=name, reason=reason, candidates=candidates)
