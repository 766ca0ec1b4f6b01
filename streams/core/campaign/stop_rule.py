"""The stop rule of a campaign: whether match requests end because no more line can be drawn.

Settling the counts takes too long to do it with every batch. So the rule is checked when the number of judgments has
grown enough, and the result is a part of the state. It depends on the log and its batches alone, as the requests do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.wire.events import CampaignSettings

FEWEST_NEW = 20  # judgments between two checks
LEAST_GROWTH = 0.02
MANY, LEAST_GROWTH_OF_MANY = 64, 0.2  # with many systems a check takes long


class StopCheck(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last check of the stop rule: what it was about, and whether the rule was met."""

    judgments: int = 0
    systems: int = 0
    budget: int | None = None
    confidence: float | None = None
    met: bool = False


def check_stop(
    last: StopCheck, settings: CampaignSettings, *, judgments: int, systems: int, is_settled: Callable[[], bool]
) -> StopCheck:
    """Return the last check, or a new one if it is time for it. Without a stop rule there is none."""
    if settings.stop_confidence is None:
        return StopCheck()
    asked = (systems, settings.budget, settings.stop_confidence)
    growth = LEAST_GROWTH_OF_MANY if systems >= MANY else LEAST_GROWTH
    has_grown = judgments - last.judgments >= max(FEWEST_NEW, growth * last.judgments)
    if asked == (last.systems, last.budget, last.confidence) and not has_grown:
        return last
    return StopCheck(
        judgments=judgments,
        systems=systems,
        budget=settings.budget,
        confidence=settings.stop_confidence,
        met=is_settled(),
    )
