"""Limits of rejections. A client that publishes garbage stops the worker instead of filling the dead letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from streams.errors import RecordError, TooManyRejections

if TYPE_CHECKING:
    from collections.abc import Iterable

# These depend on the campaign, not on the record. A judge must not be able to stop a worker.
BLAMELESS = frozenset({"campaign_closed", "judge_excluded", "judge_too_fast", "refused_command", "without_baseline"})

WAY_OUT = (
    "Nothing of this batch was applied or rejected. Look at those before it in rejected.v1 (judgestream rejected list) "
    "and mend what publishes; to let such records through, raise the limit"
)


@dataclass(frozen=True, kw_only=True)
class RejectionLimits:
    """Limits of bad records: in a row (0: no limit), and as a share of about the last `window` (1: no limit)."""

    in_a_row: int = 1000
    share: float = 0.5
    window: int = 5000


class Tally(NamedTuple):
    """Bad records since the last good one, and their share of about the last `window` records."""

    in_a_row: int = 0
    share: float = 0.0

    def after(self, outcomes: Iterable[RecordError | None], limits: RejectionLimits) -> Tally:
        """Return the tally after the next records. Raise TooManyRejections if a limit is exceeded.

        >>> bad = RecordError("empty", "the record has no value")
        >>> Tally().after([bad, None, bad, bad], RejectionLimits(in_a_row=2)).in_a_row
        2
        """
        in_a_row, share, rate = self.in_a_row, self.share, 1.0 / limits.window
        for error in outcomes:
            if error is None or error.reason in BLAMELESS:
                in_a_row = 0
                share -= share * rate
                continue
            in_a_row += 1
            share += (1.0 - share) * rate
            last = f"the last one: {error.reason}: {error.message}. {WAY_OUT}"
            if limits.in_a_row and in_a_row > limits.in_a_row:
                raise TooManyRejections(
                    f"{in_a_row} records in a row are bad, more than max_rejected_in_a_row = {limits.in_a_row}; {last}"
                )
            if share > limits.share:
                raise TooManyRejections(
                    f"more than max_rejected_share = {limits.share} of the last records are bad; {last}"
                )
        return Tally(in_a_row, share)
