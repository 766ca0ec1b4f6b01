"""The walk of one batch: decode ▶ dedupe ▶ rate ▶ persist ▶ emit, the same for every log and every store.

1. **Source** hands over raw records of one partition, in order.
2. **Decode**: bytes become events, or a Rejection.
3. **Dedupe**: an offset that the campaign has applied is skipped; so is a judgment id that it has seen.
4. **Rate**: `Campaign.apply`, pure, on arrays.
5. **Persist**: one atomic call, refused if another worker has taken the partition over.
6. **Emit**: what the batch brought about, with ids derived from its place in the log.

Only then may the source's offset be committed. Steps 3 and 4 stand in `streams.campaign`.
"""

from __future__ import annotations

import hmac
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from streams import topics
from streams.campaign import Campaign, Options
from streams.decoding import decode
from streams.errors import ForeignCampaign, RecordError
from streams.events import Rejection, encode
from streams.state import Commit, Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import msgspec

    from streams.events import Command, Judgment
    from streams.settings import Settings
    from streams.state import CampaignChange
    from streams.stores import Lease, Store

    Past = Callable[[int], Iterable["Record"]]  # the partition's records before an offset


class Record(NamedTuple):
    """One raw record of the log."""

    offset: int
    key: bytes | None
    value: bytes | None


class Pseudonyms(dict[str, str]):
    """Judges' ids and the pseudonyms that alone are stored and shown.

    >>> Pseudonyms(b"key")["alice"] == Pseudonyms(b"key")["alice"] != Pseudonyms(b"other")["alice"]
    True
    """

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key

    def __missing__(self, judge: str) -> str:
        pseudonym = self[judge] = hmac.digest(self._key, judge.encode(), "sha256")[:10].hex()
        return pseudonym


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What the processor is told by the settings."""

    options: Options
    max_record_bytes: int

    @classmethod
    def of(cls, settings: Settings) -> Rules:
        """Pick the rules out of the settings."""
        return cls(
            options=Options(
                pseudonyms=Pseudonyms(settings.judge_key.encode()),
                seen_ids=settings.seen_ids,
                create_unknown=settings.unknown_campaign == "create",
                seed=settings.seed,
            ),
            max_record_bytes=settings.max_record_bytes,
        )


class Outcomes(NamedTuple):
    """Every record read is one of the other three."""

    read: int = 0
    applied: int = 0
    duplicate: int = 0
    rejected: int = 0


class Processor:
    """The one writer of the campaigns of one partition, from `open` until it is fenced off."""

    def __init__(self, topic: str, partition: int, store: Store, rules: Rules, *, past: Past | None = None) -> None:
        self.topic = topic
        self.partition = partition
        self.campaigns: dict[str, Campaign] = {}
        self._origin = f"{topic}/{partition}"
        self._store = store
        self._rules = rules
        self._past = past
        self._lease: Lease
        self._announced: dict[str, int] = {}

    def open(self) -> tuple[Output, ...]:
        """Take the partition over: a new epoch, the state, and the outputs that may not have gone out yet."""
        self._lease, state = self._store.open(self._origin)
        self.next_offset = self.persisted_offset = state.next_offset
        self._read, self._rejected = state.read, state.rejected
        self.campaigns = {}
        outputs = list(state.outbox)
        for name in state.campaigns:
            if (stored := self._store.load(self._lease, name)) is not None:
                self.campaigns[name] = Campaign.restore(name, stored, options=self._rules.options)
                outputs += stored.outbox
        return tuple(outputs)

    def prepare(self, records: Sequence[Record]) -> Commit:
        """Decode, dedupe and rate the next records; nothing is written yet."""
        fresh = [record for record in records if record.offset >= self.next_offset]
        rejections: dict[int, RecordError] = {}
        batches: dict[str, list[tuple[int, Judgment | Command]]] = {}
        for record in fresh:
            try:
                event = decode(record.value, max_bytes=self._rules.max_record_bytes)
                batch = batches.get(event.campaign)
                if batch is None:
                    self._find(event.campaign)
                    batch = batches[event.campaign] = []
                batch.append((record.offset, event))
            except RecordError as error:
                rejections[record.offset] = error
        self._rejected += len(rejections)
        changes = [self._rate(name, batch, rejections) for name, batch in batches.items()]
        outbox = self._rejections(fresh, rejections)
        before, self.next_offset = self.next_offset, fresh[-1].offset + 1 if fresh else self.next_offset
        self._read += len(fresh)
        return Commit(
            before=before,
            after=self.next_offset,
            read=self._read,
            rejected=self._rejected,
            campaigns=tuple(change for change in changes if change is not None),
            outbox=outbox,
        )

    def _find(self, name: str) -> None:
        """Have the campaign at hand: from memory, from the store, or new."""
        if name in self.campaigns:
            return
        try:
            stored = self._store.load(self._lease, name)
        except ForeignCampaign as error:
            message = (
                f"the campaign {name!r} lives on {error.home} and this record came on {self._origin}; "
                "publish with the campaign as the record's key, and with one partitioner"
            )
            raise RecordError("wrong_partition", message, field="campaign") from None
        options = self._rules.options
        self.campaigns[name] = (
            Campaign(name, options=options) if stored is None else Campaign.restore(name, stored, options=options)
        )

    def _rate(
        self, name: str, batch: list[tuple[int, Judgment | Command]], rejections: dict[int, RecordError]
    ) -> CampaignChange | None:
        """Apply a campaign's part of the batch; one that was not opened by it leaves no trace but rejections."""
        campaign = self.campaigns[name]
        own = campaign.counts.rejected
        past = self._past
        applied = campaign.apply(
            batch,
            origin=self._origin,
            history=None if past is None else lambda before: self._history(name, past(before)),
        )
        rejections.update(applied.rejections)
        self._rejected += len(applied.rejections) - (campaign.counts.rejected - own)
        if not campaign.exists:
            del self.campaigns[name]
            return None
        outputs = [
            *(_output(topics.RATINGS, f"{name}/{rating.system}", rating) for rating in applied.ratings),
            *(_output(topics.MATCH_REQUESTS, name, request) for request in applied.requests),
        ]
        if applied.standing is not None:
            outputs.append(_output(topics.CAMPAIGNS, name, applied.standing))
        return campaign.change(applied, tuple(outputs))

    def _history(self, name: str, records: Iterable[Record]) -> Iterator[tuple[int, Judgment | Command]]:
        """Pick a campaign's events out of the log; what was rejected then is none of them now."""
        for record in records:
            with suppress(RecordError):
                event = decode(record.value, max_bytes=self._rules.max_record_bytes)
                if event.campaign == name:
                    yield record.offset, event

    def _rejections(self, records: Sequence[Record], errors: dict[int, RecordError]) -> tuple[Output, ...]:
        if not errors:
            return ()
        by_offset = {record.offset: record for record in records}
        return tuple(
            rejected(self.topic, self.partition, by_offset[offset], error) for offset, error in sorted(errors.items())
        )

    def persist(self, commit: Commit) -> None:
        """Write a prepared batch; where the store is away the same call may be made again."""
        self._store.persist(self._lease, commit)
        self.persisted_offset = commit.after

    def process(self, records: Sequence[Record]) -> tuple[Output, ...]:
        """Walk one batch; what comes back is to be emitted, and after that the source may be committed."""
        commit = self.prepare(records)
        self.persist(commit)
        return commit.outputs

    def counts(self) -> Outcomes:
        """Say what became of every record of the partition so far."""
        campaigns = [campaign.counts for campaign in self.campaigns.values()]
        return Outcomes(
            read=self._read,
            applied=sum(counts.judgments + counts.commands + counts.retracted for counts in campaigns),
            duplicate=sum(counts.duplicates for counts in campaigns),
            rejected=self._rejected + sum(counts.rejected for counts in campaigns),
        )

    def snapshots(self) -> tuple[Output, ...]:
        """Give the leaderboards of the campaigns that changed since the last call."""
        outputs = []
        for name, campaign in self.campaigns.items():
            if campaign.exists and self._announced.get(name) != campaign.counts.records:
                self._announced[name] = campaign.counts.records
                outputs.append(_output(topics.LEADERBOARDS, name, campaign.leaderboard()))
        return tuple(outputs)


def _output(topic: topics.Topic, key: str, event: msgspec.Struct) -> Output:
    return Output(topic.name, key.encode(), encode(event))


def rejected(topic: str, partition: int, record: Record, error: RecordError) -> Output:
    """Make the Rejection of a record, under the record's own key."""
    rejection = Rejection(
        id=f"{topic}/{partition}/{record.offset}",
        reason=error.reason,
        field=error.field,
        message=error.message,
        original=record.value or b"",
        topic=topic,
        partition=partition,
        offset=record.offset,
    )
    return Output(topics.REJECTED.name, record.key, encode(rejection))
