"""The ledger of the real way: lists, leases that expire, and what judges were handed, beside each campaign's state."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from streams.monitor.ledger.base import MOST_PAIR_SAMPLES, MOST_SAMPLES, REMEMBERED_SECONDS, Lease, PairSample, Sample
from streams.stores.redis.keys import Keys
from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.monitor.ledger.base import Offer
    from streams.stores.redis.client import Client

OFFERS = 100  # at once

_samples = msgspec.json.Decoder(Sample)
_pair_samples = msgspec.json.Decoder(PairSample)


class RedisLedger:
    """Shares one connection with the store."""

    def __init__(self, client: Client, *, namespace: str = "") -> None:
        self._client = client
        self._keys = Keys(namespace)

    def note(self, campaign: str, sample: Sample) -> bool:
        """Keep a sample."""
        return self._note(campaign, "history", sample, MOST_SAMPLES)

    def samples(self, campaign: str) -> list[Sample]:
        """Give the samples."""
        return [_samples.decode(value) for value in self._list(campaign, "history")]

    def note_pairs(self, campaign: str, sample: PairSample) -> bool:
        """Keep the counts of the pairs."""
        return self._note(campaign, "pair-history", sample, MOST_PAIR_SAMPLES)

    def pair_samples(self, campaign: str) -> list[PairSample]:
        """Give the counts of the pairs."""
        return [_pair_samples.decode(value) for value in self._list(campaign, "pair-history")]

    def _note(self, campaign: str, table: str, sample: Sample | PairSample, most: int) -> bool:
        keys = [self._keys.campaign(campaign, name) for name in (table, f"{table}-head")]
        return bool(
            self._client.run("note", keys=keys, args=[sample.sequence, most, encode(sample)], package=__package__)
        )

    def _list(self, campaign: str, table: str) -> list[bytes]:
        with self._client.answering():
            found: list[bytes] = self._client.redis.lrange(self._keys.campaign(campaign, table), 0, -1)  # type: ignore[assignment]
        return found

    def take(self, campaign: str, offers: Sequence[Offer], *, judge: str, seconds: float) -> Lease | None:
        """Lease a judge a request."""
        mine = [self._keys.campaign(campaign, f"{name}:{judge}") for name in ("held", "handed")]
        durations = [round(seconds * 1000), round(REMEMBERED_SECONDS * 1000)]
        left = iter(offers)
        while some := list(islice(left, OFFERS)):
            found: tuple[bytes, int] | None = self._client.run(
                "take",
                keys=[*mine, *(self._lease(campaign, offer.request) for offer in some)],
                args=[judge, *durations, *(word for offer in some for word in offer)],
                package=__package__,
            )
            if found:
                return Lease(found[0].decode(), found[1] / 1000)
        return None

    def answered(self, campaign: str, request: str, *, judge: str, seconds: float) -> None:
        """Remember an answer that is on its way."""
        keys = [self._keys.campaign(campaign, f"held:{judge}"), self._lease(campaign, request)]
        self._client.run("answered", keys=keys, args=[request, round(seconds * 1000)], package=__package__)

    def leased(self, campaign: str, requests: Sequence[str]) -> dict[str, float]:
        """Give the seconds that are left of the leases."""
        with self._client.answering():
            pipeline: Any = self._client.redis.pipeline(transaction=False)
            for request in requests:
                pipeline.pttl(self._lease(campaign, request))
            left: list[int] = pipeline.execute()
        return {request: each / 1000 for request, each in zip(requests, left, strict=True) if each > 0}

    def _lease(self, campaign: str, request: str) -> str:
        return self._keys.campaign(campaign, f"lease:{request}")
