"""All errors of this package. The class tells the worker whether to reject, to retry or to stop.

::

    JudgestreamError
    ├── RecordError          one record is wrong: it is rejected, the next record is processed
    ├── SettingError         a setting is unknown, missing or wrong: nothing starts
    ├── ParameterError       a model, policy or parameter does not exist or is out of range
    ├── FormatError          a file can't be read or written: the message has file, line and column
    │   └── RowError         one row of a file can't be read (in streams.formats)
    ├── BrokerUnavailable    Kafka does not answer: a command ends, a running worker waits
    ├── NoAnswer             a command was sent, but no worker has answered it yet
    ├── TopicError           a topic is missing or has the wrong configuration
    ├── TooManyUndecodable   almost all records of a partition can't be decoded: the partition stops
    ├── WrongLog             the log is not the one that the state was computed from: the partition stops
    ├── LogGap               records of the log are gone before they were read: the partition stops
    ├── StoreUnavailable     the store does not answer: the same batch is tried again
    ├── StoreCorrupt         stored data can't be read: the campaign is rated again, or the partition stops
    │   └── StoreOutdated    an earlier version stored a campaign, and kept too little: it is rated again
    ├── StoreNewer           the store holds data of a newer version: the partition stops
    ├── ForeignCampaign      the campaign belongs to another partition: the record is forwarded
    ├── HistoryGone          the beginning of the log has been deleted: it can't be rated again
    ├── Conflict             the store is not at the expected offset: the partition is loaded again
    └── Fenced               another worker owns the partition now: this worker drops it
"""

from __future__ import annotations

from bisect import bisect
from difflib import SequenceMatcher
from heapq import nlargest
from typing import TYPE_CHECKING

from streams.quoting import cut, safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.wire.reasons import Reason


class JudgestreamError(Exception):
    """The base class. The message says what is wrong, where, and what to do."""


class RecordError(JudgestreamError):
    """A record can't be applied. `reason` and `field` go into its Rejection."""

    def __init__(self, reason: Reason, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field


class SettingError(JudgestreamError):
    """A setting is unknown, missing or wrong."""


class ParameterError(JudgestreamError):
    """A model, policy or parameter does not exist or is out of range."""


class FormatError(JudgestreamError):
    """A file, or one of its rows, can't be read or written. What the message has of the file is escaped."""

    def __init__(self, message: str) -> None:
        super().__init__(safe(message))


class BrokerUnavailable(JudgestreamError):  # noqa: N818
    """Kafka does not answer."""


class NoAnswer(JudgestreamError):  # noqa: N818
    """A command was sent, but no worker has answered it yet."""


class TopicError(JudgestreamError):
    """A topic is missing, has the wrong configuration, or could not be created."""


class TooManyUndecodable(JudgestreamError):  # noqa: N818
    """More records of a partition can't be decoded than the limits allow."""


class WrongLog(JudgestreamError):  # noqa: N818
    """The log was replaced or truncated since the state was computed from it."""


class LogGap(JudgestreamError):  # noqa: N818
    """Records of the log were deleted before they were read: those from `start` to before `end`."""

    def __init__(self, message: str, *, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


class StoreUnavailable(JudgestreamError):  # noqa: N818 - a condition, like ConnectionRefused
    """The store does not answer. The same call may be repeated."""


class StoreCorrupt(JudgestreamError):  # noqa: N818
    """The store holds data that this version can't read."""


class StoreOutdated(StoreCorrupt):
    """An earlier version of Judgestream stored a campaign without something that this version needs."""


class StoreNewer(JudgestreamError):  # noqa: N818
    """The store holds data that a newer version of Judgestream wrote. This version must not change it."""


class ForeignCampaign(JudgestreamError):  # noqa: N818
    """The campaign belongs to another partition, its `home`."""

    def __init__(self, campaign: str, home: str) -> None:
        super().__init__(f"the campaign {campaign!r} belongs to partition {home}")
        self.home = home


class HistoryGone(JudgestreamError):  # noqa: N818
    """The beginning of the log has been deleted."""


class Conflict(JudgestreamError):  # noqa: N818
    """The offset in the store is neither the one before nor the one after this batch."""


class Fenced(JudgestreamError):  # noqa: N818
    """Another worker has taken over the partition. This worker may not write to it."""


MOST_NAMES = 30  # that a hint lists
_MOST_COMPARED = 200  # names that are compared with a wrong word: those beside it in the alphabet
_MOST_LETTERS = 40  # of a name that are compared
_LEAST_SIMILAR = 0.6


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a hint for a wrong word: the most similar known word, or the known words.

    A worker makes a hint for each judgment of an unknown system, so the time for it is bounded.

    >>> suggestion("truskill", ["trueskill", "grm"])
    "did you mean 'trueskill'?"
    >>> suggestion("x", ["b", "a"])
    'known: a, b'
    """
    names = sorted(known)
    place = max(0, bisect(names, word) - _MOST_COMPARED // 2)
    close = _most_similar(word, names[place : place + _MOST_COMPARED] if len(names) > _MOST_COMPARED else names)
    more = f", and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    listed = ", ".join(safe(cut(name, 2 * _MOST_LETTERS)) for name in names[:MOST_NAMES])
    return f"did you mean {close!r}?" if close else f"known: {listed}{more}"


def _most_similar(word: str, names: Iterable[str]) -> str | None:
    """Return the most similar name, or None. The exact comparison takes long, so only a few names get it."""
    matcher = SequenceMatcher(b=word[:_MOST_LETTERS])
    estimates = []
    for name in names:
        matcher.set_seq1(name[:_MOST_LETTERS])
        if matcher.real_quick_ratio() >= _LEAST_SIMILAR and (estimate := matcher.quick_ratio()) >= _LEAST_SIMILAR:
            estimates.append((estimate, name))
    similar = []
    for _, name in nlargest(10, estimates):
        matcher.set_seq1(name[:_MOST_LETTERS])
        similar.append((matcher.ratio(), name))
    best = max(similar, default=(0.0, ""))
    return best[1] if best[0] >= _LEAST_SIMILAR else None
