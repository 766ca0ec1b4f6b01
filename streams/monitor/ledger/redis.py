"""The ledger in Redis, beside each campaign's state: history, leases that expire, and matches handed to judges."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from streams.monitor.ledger.base import (
    MOST_PAIR_SAMPLES,
    MOST_SAMPLES,
    REMEMBERED_SECONDS,
    MatchLease,
    PairSample,
    Sample,
)
from streams.stores.redis.keys import Keys
from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.monitor.ledger.base import Offer
    from streams.stores.redis.client import Client

OFFERS = 100  # per call

_samples = msgspec.json.Decoder(Sample)
_pair_samples = msgspec.json.Decoder(PairSample)


class RedisLedger:
    """Uses the store's connection."""

    def __init__(self, client: Client, *, namespace: str = "") -> None:
        self._client = client
        self._keys = Keys(namespace)

    def add_sample(self, campaign: str, sample: Sample) -> bool:
        """Add a leaderboard to the history."""
        return self._add(campaign, "history", sample, MOST_SAMPLES)

    def samples(self, campaign: str) -> list[Sample]:
        """Return the history."""
        return [_samples.decode(value) for value in self._list(campaign, "history")]

    def add_pair_sample(self, campaign: str, sample: PairSample) -> bool:
        """Add the counts of the pairs to their history."""
        return self._add(campaign, "pair-history", sample, MOST_PAIR_SAMPLES)

    def pair_samples(self, campaign: str) -> list[PairSample]:
        """Return the history of the pairs."""
        return [_pair_samples.decode(value) for value in self._list(campaign, "pair-history")]

    def _add(self, campaign: str, table: str, sample: Sample | PairSample, most: int) -> bool:
        keys = [self._keys.campaign(campaign, name) for name in (table, f"{table}-head")]
        return bool(
            self._client.run("add_sample", keys=keys, args=[sample.sequence, most, encode(sample)], package=__package__)
        )

    def _list(self, campaign: str, table: str) -> list[bytes]:
        with self._client.translated_errors():
            found: list[bytes] = self._client.redis.lrange(self._keys.campaign(campaign, table), 0, -1)  # type: ignore[assignment]
        return found

    def lease(self, campaign: str, offers: Sequence[Offer], *, judge: str, seconds: float) -> MatchLease | None:
        """Lease a request to a judge."""
        judge_keys = [self._keys.campaign(campaign, f"{name}:{judge}") for name in ("held", "handed")]
        durations = [round(seconds * 1000), round(REMEMBERED_SECONDS * 1000)]
        if len(offers) > OFFERS:  # the request that the judge holds belongs into the first call
            with self._client.translated_errors():
                held = self._client.redis.get(judge_keys[0])
            offers = sorted(offers, key=lambda offer: offer.request.encode() != held)
        remaining = iter(offers)
        while some := list(islice(remaining, OFFERS)):
            found: tuple[bytes, int] | None = self._client.run(
                "lease",
                keys=[*judge_keys, *(self._lease_key(campaign, offer.request) for offer in some)],
                args=[judge, *durations, *(word for offer in some for word in offer)],
                package=__package__,
            )
            if found:
                return MatchLease(found[0].decode(), found[1] / 1000)
        return None

    def complete(self, campaign: str, request: str, *, judge: str, seconds: float) -> None:
        """Record that a judge has answered a request."""
        keys = [self._keys.campaign(campaign, f"held:{judge}"), self._lease_key(campaign, request)]
        self._client.run("complete", keys=keys, args=[request, round(seconds * 1000)], package=__package__)

    def forget_judge(self, campaign: str, judge: str) -> None:
        """Forget what a judge holds and which matches they got."""
        keys = [self._keys.campaign(campaign, f"{name}:{judge}") for name in ("held", "handed")]
        with self._client.translated_errors():
            self._client.redis.unlink(*keys)

    def seconds_left(self, campaign: str, requests: Sequence[str]) -> dict[str, float]:
        """Return the remaining seconds of each leased request."""
        with self._client.translated_errors():
            pipeline: Any = self._client.redis.pipeline(transaction=False)
            for request in requests:
                pipeline.pttl(self._lease_key(campaign, request))
            left: list[int] = pipeline.execute()
        return {request: each / 1000 for request, each in zip(requests, left, strict=True) if each > 0}

    def add_session(self, session: str, token: str, *, seconds: float) -> None:
        """Keep a session."""
        with self._client.translated_errors():
            self._client.redis.set(self._keys.session(session), token, px=round(seconds * 1000))

    def session_tokens(self, sessions: Sequence[str]) -> list[str | None]:
        """Return the token of each session."""
        with self._client.translated_errors():
            pipeline: Any = self._client.redis.pipeline(transaction=False)
            for session in sessions:
                pipeline.get(self._keys.session(session))
            found: list[bytes | None] = pipeline.execute()
        return [None if token is None else token.decode() for token in found]

    def end_session(self, session: str) -> None:
        """End a session."""
        with self._client.translated_errors():
            self._client.redis.delete(self._keys.session(session))

    def _lease_key(self, campaign: str, request: str) -> str:
        return self._keys.campaign(campaign, f"lease:{request}")
