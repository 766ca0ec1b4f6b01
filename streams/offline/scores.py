"""Logs of direct assessment: the model for a log without a given one, and the range of its scores."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from streams.core.models import MODELS
from streams.core.models.assessment import Assessment
from streams.wire.limits import MAX_SCORE, MIN_SCORE_RANGE
from streams.wire.scanner import JudgmentColumns
from streams.wire.score_range import DEFAULT_SCORE_RANGE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from streams.core.campaign.campaign import Campaign
    from streams.wire.events import Judgment, Parameter

ANY_SCORE = (-MAX_SCORE, MAX_SCORE)  # as a setting: the range comes from the scores of the log


def choose_model(
    batches: Iterable[Sequence[Judgment]], *, only: Collection[str] = ()
) -> tuple[str, Iterator[Sequence[Judgment]]]:
    """Return the first model that suits the first judgment of a log, and all batches of the log.

    With `only`, the first judgment of these campaigns decides.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> score = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a",), score=70.0, at=EPOCH)
    >>> choose_model([[score]])[0]
    'assessment'
    """
    rest, read, kind = iter(batches), [], "rankings"
    for batch in rest:
        read.append(batch)
        if isinstance(batch, JudgmentColumns):  # of rankings only; to decode one would take long
            if not only or any(name in only for name, _, _ in batch.split_by_campaign()):
                break
            continue
        first = next((judgment for judgment in batch if not only or judgment.campaign in only), None)
        if first is not None:
            kind = "rankings" if first.score is None else "scores"
            break
    return next(name for name, model in MODELS.items() if model.kind == kind), chain(read, rest)


def with_scale(model: str, parameters: Mapping[str, Parameter], scale: str | None) -> dict[str, Parameter]:
    """Return the parameters with the scale that suits the file, if the model has a scale and none is given.

    >>> with_scale("assessment", {"margin": 0.1}, "raw")
    {'scale': 'raw', 'margin': 0.1}
    """
    return {"scale": scale, **parameters} if scale and MODELS.get(model) is Assessment else dict(parameters)


class ScoreRanges:
    """The lowest and the highest score of each campaign so far."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[float, float]] = {}

    def widen(self, campaign: Campaign, judgments: Sequence[Judgment]) -> None:
        """Set the range of a model that takes any score. A range without width is none, and the default remains."""
        if isinstance(judgments, JudgmentColumns):
            return  # of rankings only
        scores = [judgment.score for judgment in judgments if judgment.score is not None]
        scores += self._found.get(campaign.name, ())
        if scores:
            low, high = self._found[campaign.name] = min(scores), max(scores)
            campaign.model.score_range = (low, high) if high - low >= MIN_SCORE_RANGE else DEFAULT_SCORE_RANGE
