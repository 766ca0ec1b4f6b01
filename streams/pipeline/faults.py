"""Unexpected errors in the code of one campaign: what counts as one, and where in the log it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.campaign.result import merge
from streams.errors import FormatError, JudgestreamError, ParameterError, RecordError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.campaign import Campaign, Event, FindTime
    from streams.core.campaign.result import BatchResult


def is_campaign_fault(error: Exception) -> bool:
    """Return whether an error that left the code of a campaign is a fault of that code.

    The code of a campaign is pure. So an OSError comes from a server or the machine, as most errors of this package do
    that reach the caller. Those about values are an exception: a campaign handles them itself, unless it has a fault.

    >>> [is_campaign_fault(error) for error in (ZeroDivisionError(), ConnectionResetError(), MemoryError())]
    [True, False, False]
    """
    if isinstance(error, JudgestreamError):
        return isinstance(error, RecordError | ParameterError | FormatError)
    return not isinstance(error, MemoryError | OSError)


def apply_each(
    campaign: Campaign, offsets: Sequence[int], events: Sequence[Event], refusal: str | None, find_time: FindTime
) -> tuple[BatchResult, int, Exception | None]:
    """Apply records one by one, up to the first with a fault, or to a retraction for which there is no `refusal`.

    Return the result and the number of the records before it, and the fault or the retraction.

    After a fault the campaign may be half changed. Restore it, and apply only the records before.
    """
    results: list[BatchResult] = []
    found: Exception | None = None
    for offset, event in zip(offsets, events, strict=True):
        try:
            result = campaign.apply_records([offset], [event], refusal=refusal, find_time=find_time)
            if (found := result.retraction) is not None:
                break
            campaign.complete(result, origin="", with_requests=False)  # its rows may not be ready to be stored
            results.append(result)
        except Exception as error:
            if not is_campaign_fault(error):
                raise
            found = error
            break
    return merge(results), len(results), found
