"""The test of a live campaign's judges: the votes in its log, and the command that suspends who is flagged.

The decision is a command in the log. So a replay of the log does not depend on when a worker tested the judges.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streams.core.campaign.gold import GoldItems
from streams.core.campaign.pseudonyms import MARK
from streams.core.judges import examine_judges
from streams.core.judges.votes import Votes
from streams.errors import RecordError
from streams.pipeline.decoding import decode_record
from streams.wire.events import ENDED, Judgment, SuspendJudges
from streams.wire.limits import MAX_SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.core.judges.report import JudgeReport
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.record import Record
    from streams.wire.events import CampaignStatus

FEWEST_JUDGMENTS = 200  # before the first test
GROWTH = 1.1  # of the judgments until the next test
MOST_JUDGMENTS = 500_000  # newest ones that are tested: they are all in memory
MOST_FLAGGED = 0.5  # share of the tested judges. If more are flagged, the tests themselves are in doubt.
MOST_SUSPENDED = 1000  # judges in one command
BY = "judgestream"


def is_due(status: CampaignStatus, judgments: int, *, tested: int) -> bool:
    """Return whether the judges of a campaign are to be tested. The last test was at `tested` judgments, or at 0."""
    if status.settings.suspend_judges != "auto" or status.state in ENDED or status.quarantine is not None:
        return False
    return judgments >= max(FEWEST_JUDGMENTS, GROWTH * tested, tested + FEWEST_JUDGMENTS)


class CampaignVotes:
    """The judgments of one campaign that count, collected from its log. Judges are named by pseudonym."""

    def __init__(self, campaign: ReadOnlyCampaign, options: ProcessorOptions) -> None:
        self.status, self.offset = campaign.status, campaign.offset
        self._retractions = campaign.retractions
        self._gold = GoldItems(campaign.status.settings.gold)
        self._deleted = campaign.deleted
        self._options = options
        self._name = campaign.name.encode()
        self._judgments: deque[Judgment] = deque(maxlen=MOST_JUDGMENTS)
        self._ids: set[str] = set()

    def add(self, records: Iterable[Record]) -> None:
        """Add the next records of the partition, up to the campaign's offset. Others are ignored."""
        pseudonyms = self._options.campaign.pseudonyms
        for record in records:
            if not self._deleted < record.offset <= self.offset or self._name not in (record.value or b""):
                continue
            try:
                event = decode_record(record, max_bytes=self._options.max_record_bytes)
            except RecordError:
                continue
            if not isinstance(event, Judgment) or event.campaign != self.status.campaign or event.id in self._ids:
                continue
            judge = event.judge if pseudonyms is None else pseudonyms[event.judge]
            if self._retractions.find_reason(event.id, judge, record.offset) is None and not self._gold.find(event):
                self._ids.add(event.id)
                self._judgments.append(replace(event, judge=judge))

    def examine(self) -> JudgeReport:
        """Test the judges. It takes seconds with very many judgments."""
        return examine_judges(Votes.of(self._judgments))

    def suspension(self, report: JudgeReport, *, at: datetime) -> SuspendJudges | None:
        """Return the command that suspends the flagged judges, or None.

        Speed alone does not show that a judgment is wrong. A judge whom an operator has reinstated is left alone.
        """
        flagged = [each for each in report.flagged if each.by_votes and each.judge not in self._retractions.reinstated]
        if not flagged or len(flagged) > MOST_FLAGGED * report.tested:
            return None
        flagged = flagged[:MOST_SUSPENDED]
        return SuspendJudges(
            id=f"suspend-{self.status.campaign}-{self.offset}"[-200:],
            campaign=self.status.campaign,
            at=at,
            by=BY,
            judges=tuple(MARK + each.judge for each in flagged),
            reason="; ".join(f"{each.judge} {each.message}" for each in flagged)[:MAX_SOURCE],
        )
