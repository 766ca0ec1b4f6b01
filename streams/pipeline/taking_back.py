"""Commands for changed verdicts that a campaign no longer remembers: when they are sent, and what they say.

The decision is a command in the log, like that of an operator. So a replay does not depend on when it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.campaign.pseudonyms import MARK
from streams.pipeline.suspensions import BY
from streams.wire.events import ENDED, Retract
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from datetime import datetime

    from streams.core.campaign.forgotten_verdicts import ForgottenVerdicts
    from streams.core.campaign.state import CampaignMeta
    from streams.wire.events import CampaignStatus

MOST_IDS = 1000  # in one command, so that it is never too large
WAIT_SECONDS = 10.0  # after the first verdict: others may follow
SECONDS_PER_RECORD = 1e-4  # of the partition, between two reruns. A rerun needs about a tenth of it


def awaits_rerun(status: CampaignStatus, verdicts: ForgottenVerdicts) -> bool:
    """Return whether a campaign has verdicts that are to be taken back by a rerun."""
    return bool(verdicts.waiting) and status.state not in ENDED and status.quarantine is None


def is_due(now: float, *, first: float, last: float | None, records: int) -> bool:
    """Return whether the commands of a campaign are to be sent.

    The `first` verdict was found at a time, and the `last` commands were sent at another, if any were. A campaign is
    rated again at most in a tenth of the time, however many verdicts are changed.

    >>> is_due(20.0, first=10.0, last=None, records=1_000_000), is_due(20.0, first=10.0, last=5.0, records=1_000_000)
    (True, False)
    """
    return now >= first + WAIT_SECONDS and (last is None or now >= last + max(30.0, SECONDS_PER_RECORD * records))


def make_retractions(meta: CampaignMeta, *, at: datetime) -> list[Retract]:
    """Return the commands after which a campaign is rated again without the verdicts that wait."""
    name = meta.status.campaign
    waiting = [
        (judge, verdict, offset) for judge, ids in meta.verdicts.waiting.items() for verdict, offset in ids.items()
    ]
    commands = []
    for number, start in enumerate(range(0, len(waiting), MOST_IDS)):
        taken_back: dict[str, dict[str, int]] = {}
        for judge, verdict, offset in waiting[start : start + MOST_IDS]:
            taken_back.setdefault(MARK + judge if judge else "", {})[verdict] = offset
        command_id = f"taken-back-{name}-{meta.offset}-{number}"[-MAX_NAME:]
        commands.append(Retract(id=command_id, campaign=name, at=at, by=BY, taken_back=taken_back))
    return commands
