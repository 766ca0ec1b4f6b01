"""The stop rule of a campaign: whether match requests end because no more line can be drawn.

The outlook of the leaderboard decides. Settling it takes too long to do it with every batch. So the rule is checked
when requests are chosen and the number of judgments has grown enough, and the result is a part of the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
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


def next_check(last: StopCheck, settings: CampaignSettings, *, judgments: int, systems: int) -> tuple[StopCheck, bool]:
    """Return the check that counts, and whether it is a new one, which is still to be made.

    A new one is due if the judgments have grown enough, or if the last one was about something else. Without a stop
    rule there is none.
    """
    if settings.stop_confidence is None:
        return StopCheck(), False
    asked = (systems, settings.budget, settings.stop_confidence)
    growth = LEAST_GROWTH_OF_MANY if systems >= MANY else LEAST_GROWTH
    has_grown = judgments - last.judgments >= max(FEWEST_NEW, growth * last.judgments)
    if asked == (last.systems, last.budget, last.confidence) and not has_grown:
        return last, False
    budget, confidence = settings.budget, settings.stop_confidence
    return StopCheck(judgments=judgments, systems=systems, budget=budget, confidence=confidence), True
