"""Which columns of a table have many different values."""

from __future__ import annotations

from dataclasses import dataclass

MOST_ROWS = 2**15  # that are read at once; a campaign remembers the ids of at least twice as many


@dataclass(frozen=True, kw_only=True)
class WideColumns:
    """Names of columns with many different values. Of several names, the first one whose cell is not empty counts.

    All other columns that are read make the verdict.
    """

    segment: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    id: tuple[str, ...] = ()  # without one, ids are made
    duration: tuple[str, ...] = ()  # in seconds
    # A log may repeat a conversation that has one of the first columns, or one of the second ones and a time.
    conversation: tuple[str, ...] = ()
    timed_conversation: tuple[str, ...] = ()
    is_stripped: bool = False  # the complete reader removes spaces around each cell
    # Of a table of rankings: the outputs as a|b+c, their ranks as 1|2, and the number that times and ids are made of.
    systems: tuple[str, ...] = ()
    ranks: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()  # a row with such a cell needs the complete reader

    @property
    def names(self) -> frozenset[str]:
        """The names of all wide columns."""
        return frozenset(
            (
                *self.segment,
                *self.judge,
                *self.time,
                *self.id,
                *self.duration,
                *self.conversation,
                *self.timed_conversation,
                *self.systems,
                *self.ranks,
                *self.number,
                *self.empty,
            )
        )
