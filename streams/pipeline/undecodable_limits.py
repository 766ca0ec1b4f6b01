"""Limits of undecodable records. If almost nothing of a partition can be decoded, its log is probably not ours.

The partition then waits for an operator. Otherwise a foreign topic would go to `rejected.v1` record by record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from streams.errors import RecordError, TooManyUndecodable

if TYPE_CHECKING:
    from collections.abc import Iterable

# Bytes that are no JSON at all: Avro, Protobuf, text, tombstones. JSON that is wrong, too large or too deep is a
# sender's mistake: it gets its rejections, and must not delay the other campaigns of the partition.
UNDECODABLE = frozenset({"empty", "invalid_utf8", "invalid_json"})


@dataclass(frozen=True, kw_only=True)
class UndecodableLimits:
    """Limits of undecodable records: in a row (0: no limit), and as a share of the last `window` (1: no limit)."""

    in_a_row: int = 1000
    share: float = 0.5
    window: int = 5000


class Tally(NamedTuple):
    """Undecodable records since the last decodable one, and their share of about the last `window` records."""

    in_a_row: int = 0
    share: float = 0.0

    def after(self, outcomes: Iterable[RecordError | None], limits: UndecodableLimits) -> Tally:
        """Return the tally after the next records. Raise TooManyUndecodable if a limit is exceeded.

        >>> bad = RecordError("empty", "the record has no value")
        >>> Tally().after([bad, None, bad, bad], UndecodableLimits(in_a_row=2)).in_a_row
        2
        """
        in_a_row, share, rate = self.in_a_row, self.share, 1.0 / limits.window
        for error in outcomes:
            if error is None or error.reason not in UNDECODABLE:
                in_a_row = 0
                share -= share * rate
                continue
            in_a_row += 1
            share += (1.0 - share) * rate
            if limits.in_a_row and in_a_row > limits.in_a_row:
                what = f"more than max_undecodable_in_a_row = {limits.in_a_row} records in a row"
                raise _too_many(what, error, let_through="max_undecodable_in_a_row = 0")
            if share > limits.share:
                what = f"more than max_undecodable_share = {limits.share} of the last records"
                raise _too_many(what, error, let_through="max_undecodable_share = 1")
        return Tally(in_a_row, share)


def _too_many(what: str, error: RecordError, *, let_through: str) -> TooManyUndecodable:
    return TooManyUndecodable(
        f"{what} can't be decoded; the last one: {error.reason}: {error.message}. Is something else published to this "
        "topic? Nothing of this batch was applied or rejected. Look at the records before it (judgestream rejected "
        f"list), and stop what publishes them. To reject them all and go on, restart the workers with {let_through}"
    )
