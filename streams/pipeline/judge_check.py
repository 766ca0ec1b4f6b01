"""The exact tests of judges on the log of one campaign."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from streams.core.campaign.pseudonyms import forgotten_name
from streams.core.judges import VoteCounter, examine_judges
from streams.errors import RecordError
from streams.pipeline.decoding import decode_record
from streams.wire.campaign_settings import GoldItem
from streams.wire.events import Change, Create, Delete, ExcludeJudge, ForgetJudge, IncludeJudge, Judgment, Retract

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from streams.core.judges import JudgeReport
    from streams.pipeline.record import Record
    from streams.wire.events import Command


def check_judges(
    batches: Iterable[Sequence[Record]],
    campaign: str,
    *,
    pseudonyms: Mapping[str, str] | None,
    retracted: Collection[str],
    max_bytes: int,
) -> JudgeReport:
    """Test the judges of a campaign on all records of its partition, in order. Judges are named by pseudonym.

    `retracted` are the ids of retracted judgments. Suspended judges are tested like all others, so that the result
    does not depend on who is suspended.
    """
    votes = CampaignVotes(campaign, pseudonyms, retracted)
    for records in batches:
        votes.read(records, max_bytes=max_bytes)
    return votes.examine()


class CampaignVotes:
    """The votes of a campaign that count, as its log goes on.

    Left out are repeated ids, gold items, and judgments that are retracted or of an excluded judge. Judgments that a
    worker rejects for another reason are few, and do not matter to the tests.
    """

    def __init__(self, campaign: str, pseudonyms: Mapping[str, str] | None, retracted: Collection[str]) -> None:
        self.campaign, self._pseudonyms = campaign, pseudonyms
        self._retracted = frozenset(retracted)
        self._clear()

    def _clear(self) -> None:
        self.counter = VoteCounter()
        self._seen: set[int] = set()  # hashes of ids
        self._excluded: set[str] = set()
        self._gold: set[tuple[str, frozenset[str]]] = set()

    def read(self, records: Iterable[Record], *, max_bytes: int) -> None:
        """Apply the next records of the partition."""
        name = self.campaign.encode()
        for record in records:
            if record.value is None or (record.key != name and name not in record.value and b"\\" not in record.value):
                continue
            try:
                event = decode_record(record, max_bytes=max_bytes)
            except RecordError:
                continue
            if event.campaign == self.campaign:
                self.apply(event)

    def examine(self) -> JudgeReport:
        """Test the judges."""
        return examine_judges(self.counter.votes())

    def apply(self, event: Judgment | Command) -> None:
        """Apply the next event of the campaign."""
        if isinstance(event, Judgment):
            self._count(event)
        elif isinstance(event, Delete):
            self._clear()
        elif isinstance(event, Create):
            self._set_gold(event.settings.gold)
        elif isinstance(event, Change):
            if "gold" in event.settings:
                self._set_gold(msgspec.convert(event.settings["gold"], tuple[GoldItem, ...]))
        elif isinstance(event, ExcludeJudge):
            self._excluded.add(self._pseudonym(event.judge))
        elif isinstance(event, IncludeJudge):
            self._excluded.discard(self._pseudonym(event.judge))
        elif isinstance(event, Retract) and event.judge is not None:
            self.counter.drop(self._pseudonym(event.judge))
        elif isinstance(event, ForgetJudge):
            judge = self._pseudonym(event.judge)
            self.counter.rename(judge, forgotten_name(self.campaign, event.id, judge))

    def _count(self, judgment: Judgment) -> None:
        judge = self._pseudonym(judgment.judge)
        key = int.from_bytes(blake2b(judgment.id.encode(), digest_size=8).digest())
        if key in self._seen or judgment.id in self._retracted or judge in self._excluded:
            return
        self._seen.add(key)
        if (judgment.segment, frozenset(judgment.systems)) not in self._gold:
            self.counter.add(judge, judgment)

    def _set_gold(self, gold: Iterable[GoldItem]) -> None:
        self._gold = {(item.segment, frozenset(item.systems)) for item in gold}

    def _pseudonym(self, judge: str) -> str:
        return judge if self._pseudonyms is None else self._pseudonyms[judge]
