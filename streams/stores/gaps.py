"""Gaps: records of the log that were deleted before they were read, and the operator's word to go on without them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable


class Gap(Struct, frozen=True, kw_only=True):
    """The offsets from `start` to before `end` of one partition. `accepted` is None until an operator accepts it."""

    start: int
    end: int
    found: datetime
    accepted: datetime | None = None

    @property
    def field(self) -> str:
        """The name under which the gap is stored."""
        return f"{self.start}-{self.end}"

    @property
    def missing(self) -> int:
        """The number of offsets."""
        return self.end - self.start


def new_gap(start: int, end: int) -> Gap:
    """Return a gap that was found now."""
    return Gap(start=start, end=end, found=datetime.now(UTC))


def gaps_to_show(gaps: Iterable[Gap], *, offset: int) -> list[Gap]:
    """Return the gaps that are accepted, and the one at which a partition at an offset is stopped, by their start.

    A gap that is neither is over: its partition went on, for example because the records came back.
    """
    return sorted((gap for gap in gaps if gap.accepted or gap.start == offset), key=lambda gap: gap.start)


def describe_gap(partition: str, start: int, end: int) -> str:
    """Return what is missing, and what to do.

    >>> describe_gap("judgments.v1/0", 3, 5).partition(". ")[0]
    'the records of judgments.v1/0 from offset 3 to 4 were deleted from the log before they were read'
    """
    return (
        f"the records of {partition} from offset {start} to {end - 1} were deleted from the log before they were read. "
        "Bring them back if you can, for example from a backup of the topic. "
        f"To go on without them, run: judgestream gaps --accept {partition}:{start}-{end}"
    )
