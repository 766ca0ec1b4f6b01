"""How many campaigns a token may begin: a post to a name that does not exist yet begins one."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING

from streams.errors import StoreUnavailable
from streams.monitor.http.responses import RequestError

if TYPE_CHECKING:
    from streams.monitor.backends.base import Backend

MOST_KNOWN = 10_000  # campaigns that are known to exist


class CampaignBeginnings:
    """Counts the campaigns that each token begins. If the store is away, only the limit of the workers holds."""

    def __init__(self, backend: Backend, *, per_token: int) -> None:
        self._backend = backend
        self._per_token = per_token
        self._known: OrderedDict[str, None] = OrderedDict()

    async def check(self, campaign: str, token: str) -> None:
        """Raise if the campaign does not exist yet, and the token has begun too many within a day."""
        if campaign in self._known:
            return
        with suppress(StoreUnavailable):
            if not await self._backend.run(self._backend.store.read_head, campaign):
                await self._begin(campaign, token)
                return
            self._known[campaign] = None
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)

    async def _begin(self, campaign: str, token: str) -> None:
        ledger = self._backend.ledger
        seconds = await self._backend.run(ledger.begin_campaign, token, campaign, most=self._per_token)
        if seconds:
            message = (
                f"there is no campaign {campaign!r}, and the token {token!r} has begun {self._per_token} others within "
                "a day; check the name, `create` the campaign, or raise campaigns_per_token"
            )
            headers = {"Retry-After": str(ceil(seconds))}
            raise RequestError(429, "too_many_campaigns", message, field="campaign", headers=headers)
