"""Automatic suspensions: when the judges of a campaign are tested, and the command that suspends who is flagged.

The decision is a command in the log. So a replay of the log does not depend on when a worker tested the judges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.campaign.pseudonyms import MARK
from streams.wire.events import ENDED, SuspendJudges
from streams.wire.limits import MAX_NAME, MAX_SOURCE

if TYPE_CHECKING:
    from datetime import datetime

    from streams.core.campaign.state import CampaignMeta
    from streams.core.judges import JudgeReport
    from streams.wire.events import CampaignStatus

FEWEST_JUDGMENTS = 200  # before the first test, and between two
GROWTH = 1.1  # of the judgments until the next test
MOST_FLAGGED = 0.5  # share of the tested judges. If more are flagged, the tests themselves are in doubt.
MOST_SUSPENDED = 1000  # judges in one command
BY = "judgestream"


def may_suspend(status: CampaignStatus) -> bool:
    """Return whether a campaign suspends flagged judges by itself."""
    return status.settings.suspend_judges == "auto" and status.state not in ENDED and status.quarantine is None


def is_due(judgments: int, *, tested: int) -> bool:
    """Return whether the judges of a campaign are to be tested. The last test was at `tested` judgments, or at 0."""
    return judgments >= max(GROWTH * tested, tested + FEWEST_JUDGMENTS)


def make_suspension(report: JudgeReport, meta: CampaignMeta, *, at: datetime) -> SuspendJudges | None:
    """Return the command that suspends the flagged judges of a campaign, or None.

    Speed alone does not show that a judgment is wrong. A judge whom an operator has reinstated is left alone.
    """
    known = {*meta.status.suspended, *meta.retractions.reinstated}
    flagged = [each for each in report.flagged if each.by_votes and each.judge not in known][:MOST_SUSPENDED]
    if not flagged or are_too_many(report):
        return None
    return SuspendJudges(
        id=f"suspend-{meta.status.campaign}-{meta.offset}"[-MAX_NAME:],
        campaign=meta.status.campaign,
        at=at,
        by=BY,
        judges=tuple(MARK + each.judge for each in flagged),
        reason="; ".join(f"{each.judge} {each.message}" for each in flagged)[:MAX_SOURCE],
    )


def are_too_many(report: JudgeReport) -> bool:
    """Return whether more judges are flagged than may be suspended without an operator."""
    return len(report.flagged) > MOST_FLAGGED * report.tested
