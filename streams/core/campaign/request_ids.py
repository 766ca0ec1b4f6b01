"""Ids of match requests that can be verified, for campaigns that accept only answers to their requests.

Which requests are outstanding depends on the batches in which a worker reads the log. So a rerun or a rebuild can't
know which ones were outstanding when an answer came. A signed id is verified with the judgment alone: it contains the
time at which the request expires, and a signature of the campaign, the systems and the segment.
"""

from __future__ import annotations

import hmac
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.wire.decoding import quote
from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.wire.events import Judgment, MatchRequest

SIGNATURE_BYTES = 8
LATE = timedelta(days=1)  # how long after its expiry a request may still be answered


def request_key(judge_key: str) -> bytes:
    """Return the key that signs request ids. It is made from the workers' secret `judge_key`."""
    return hmac.digest(judge_key.encode(), b"match requests", "sha256")


def answer_key(request: str) -> str:
    """Return the id by which an answered request is remembered."""
    return f"request:{request}"


def signed_id(plain: str, request: MatchRequest, key: bytes) -> str:
    """Return the id of a request with its signature. `plain` is the id without one."""
    expiry = f"{int(request.expires_at.timestamp()):x}"
    return f"{plain}/{expiry}-{_sign(plain, expiry, request.campaign, request.systems, request.segment, key)}"


def is_signed(request: MatchRequest, key: bytes) -> bool:
    """Return whether the id of a request is signed."""
    return _fits(request.id, request.campaign, request.systems, request.segment, key)


def check_request(judgment: Judgment, *, key: bytes, clock: datetime) -> None:
    """Raise RecordError unless a judgment answers a request of its campaign, for its systems and its segment.

    A request is expired by the `clock` of the campaign.
    """
    only = f"the campaign {judgment.campaign!r} accepts only answers to its match requests (setting `requests_only`)"
    request = judgment.request
    if request is None:
        raise _unrequested(f"{only}, and `request` is missing; copy the id of the match request into it")
    if not any(_fits(request, judgment.campaign, judgment.systems, on, key) for on in (judgment.segment, None)):
        raise _unrequested(f"{only}, and {quote(request)} is not a request for these systems and this segment")
    expiry, _, _ = request.rpartition("/")[2].partition("-")
    expires_at = datetime.fromtimestamp(int(expiry, 16), UTC)
    if clock > expires_at + LATE:
        raise _unrequested(f"{only}, and {quote(request)} has expired at {expires_at:%Y-%m-%d %H:%M:%S} UTC")


def already_answered(judgment: Judgment) -> RecordError:
    """Return the error of a second answer to one request."""
    return _unrequested(f"the match request {quote(judgment.request or '')} has been answered by another judgment")


def _fits(request: str, campaign: str, systems: Iterable[str], segment: str | None, key: bytes) -> bool:
    plain, _, end = request.rpartition("/")
    expiry, _, signature = end.partition("-")
    return hmac.compare_digest(signature.encode(), _sign(plain, expiry, campaign, systems, segment, key).encode())


def _sign(plain: str, expiry: str, campaign: str, systems: Iterable[str], segment: str | None, key: bytes) -> str:
    content = encode((plain, expiry, campaign, sorted(systems), segment))
    return hmac.digest(key, content, "sha256")[:SIGNATURE_BYTES].hex()


def _unrequested(message: str) -> RecordError:
    return RecordError("unrequested", message, field="request")
