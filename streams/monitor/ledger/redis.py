"""The ledger in Redis, beside each campaign's state: history, leases that expire, and matches handed to judges."""

from __future__ import annotations

import re
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from streams.monitor.ledger.base import (
    DAY_SECONDS,
    MOST_PAIR_SAMPLES,
    MOST_SAMPLES,
    REMEMBERED_SECONDS,
    MatchLease,
    PairSample,
    Sample,
)
from streams.stores.redis.keys import Keys
from streams.stores.redis.units import CAMPAIGN_TABLES
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

    def lease(
        self, campaign: str, offers: Sequence[Offer], *, judge: str, count: int, seconds: float
    ) -> list[MatchLease]:
        """Lease requests to a judge."""
        if len(offers) > OFFERS:  # those that the judge holds belong into the first call; most others are taken
            holders = self.holders(campaign, [offer.request for offer in offers])
            mine = [offer for offer in offers if holders.get(offer.request) == judge]
            offers = [*mine, *(offer for offer in offers if offer.request not in holders)]
        found: list[MatchLease] = []
        remaining = iter(offers)
        while len(found) < count and (some := list(islice(remaining, OFFERS))):
            leases: list[tuple[bytes, int]] = self._client.run(
                "lease",
                keys=[self._handed_key(campaign, judge), *(self._lease_key(campaign, each.request) for each in some)],
                args=[
                    judge,
                    count - len(found),
                    round(seconds * 1000),
                    round(REMEMBERED_SECONDS * 1000),
                    *(word for offer in some for word in offer),
                ],
                package=__package__,
            )
            found += [MatchLease(request.decode(), left / 1000) for request, left in leases]
        return found

    def holders(self, campaign: str, requests: Sequence[str]) -> dict[str, str]:
        """Return the judge who holds each leased request."""
        if not requests:
            return {}
        with self._client.translated_errors():
            keys = [self._lease_key(campaign, request) for request in requests]
            leases: list[bytes | None] = self._client.redis.mget(keys)  # type: ignore[assignment]
        return {
            request: lease.decode().partition(" ")[0]
            for request, lease in zip(requests, leases, strict=True)
            if lease is not None
        }

    def release(self, campaign: str, request: str, *, judge: str, again: bool) -> bool:
        """End a lease."""
        keys = [self._lease_key(campaign, request), self._handed_key(campaign, judge)]
        return bool(self._client.run("release", keys=keys, args=[judge, int(again)], package=__package__))

    def complete(self, campaign: str, request: str, *, seconds: float) -> None:
        """Record that a request was answered."""
        with self._client.translated_errors():
            self._client.redis.set(self._lease_key(campaign, request), b"", px=round(seconds * 1000))

    def remove(self, campaign: str) -> None:
        """Remove all that is kept about a campaign. Its own tables stay."""
        pattern = re.sub(r"([\\*?\[\]])", r"\\\1", self._keys.campaign(campaign, ""))
        own = {self._keys.campaign(campaign, table) for table in ("meta", *CAMPAIGN_TABLES)}
        with self._client.translated_errors():
            for key in self._client.redis.scan_iter(f"{pattern}*", count=1000):
                if key.decode() not in own:
                    self._client.redis.unlink(key)

    def forget_judge(self, campaign: str, judge: str) -> None:
        """Forget which matches a judge got."""
        with self._client.translated_errors():
            self._client.redis.unlink(self._handed_key(campaign, judge))

    def seconds_left(self, campaign: str, requests: Sequence[str]) -> dict[str, float]:
        """Return the remaining seconds of each leased request."""
        with self._client.translated_errors():
            pipeline: Any = self._client.redis.pipeline(transaction=False)
            for request in requests:
                pipeline.pttl(self._lease_key(campaign, request))
            left: list[int] = pipeline.execute()
        return {request: each / 1000 for request, each in zip(requests, left, strict=True) if each > 0}

    def begin_campaign(self, token: str, campaign: str, *, most: int) -> float:
        """Record that a token begins a campaign."""
        arguments = [campaign, most, round(DAY_SECONDS * 1000)]
        left: int = self._client.run("begin", keys=[self._keys.begun(token)], args=arguments, package=__package__)
        return left / 1000

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

    def ask(self, campaign: str, *, judge: str, count: int, seconds: float, most: int) -> int:
        """Record that a judge asks for a number of matches."""
        args = [judge, count, round(time.time() * 1000), round(seconds * 1000), most]
        asking: int = self._client.run(
            "ask", keys=[self._keys.campaign(campaign, "asking")], args=args, package=__package__
        )
        return asking

    def asking(self, campaign: str, *, seconds: float) -> int:
        """Return the number of matches that judges have asked for in the last seconds."""
        with self._client.translated_errors():
            key, since = self._keys.campaign(campaign, "asking"), f"({round((time.time() - seconds) * 1000)}"
            asking: int = self._client.redis.zcount(key, since, "+inf")
        return asking

    def _handed_key(self, campaign: str, judge: str) -> str:
        return self._keys.campaign(campaign, f"handed:{judge}")

    def _lease_key(self, campaign: str, request: str) -> str:
        return self._keys.campaign(campaign, f"lease:{request}")
