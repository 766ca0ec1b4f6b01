"""The errors, from which the worker decides to reject, to retry or to stop.

::

    JudgestreamError
    ├── RecordError          one record is bad: it becomes a Rejection, its neighbours go on
    ├── SettingError         a setting, flag or file of settings is wrong: nothing starts
    ├── ParameterError       a model, policy or parameter that does not exist or is out of range
    ├── FormatError          a file of judgments can't be read: it names file, line and column
    │   └── RowError         one row of it (streams.formats): file, line, field, reason
    ├── BrokerUnavailable    Kafka does not answer: nothing starts; a running worker waits
    ├── NoAnswer             a command was sent, and no worker has answered it yet
    ├── TopicError           a topic is missing or is not as the contract says
    ├── TooManyRejections    nearly everything is bad: stop, before a whole topic is rejected
    ├── WrongLog             the log is not the one that the state was made from: stop
    ├── StoreUnavailable     the store does not answer: wait and try the same batch again
    ├── StoreCorrupt         the store holds what this version can not read: stop
    ├── ForeignCampaign      the campaign lives on another partition: the record is rejected
    ├── HistoryGone          the log does not reach back to its beginning: it can't be rated again
    ├── Conflict             the store is not where this worker left it: load again and go on from there
    └── Fenced               another worker owns the partition now: drop it, change nothing
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.wire.events import Reason


class JudgestreamError(Exception):
    """The root: its message says what is wrong, where, and what to do."""


class RecordError(JudgestreamError):
    """One record that can't be applied, with the reason that its Rejection carries."""

    def __init__(self, reason: Reason, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field


class SettingError(JudgestreamError):
    """A setting that is unknown, malformed or missing."""


class ParameterError(JudgestreamError):
    """A model, policy or parameter that does not exist or is out of range."""


class FormatError(JudgestreamError):
    """A file of judgments, or a row of it, that can't be read."""


class BrokerUnavailable(JudgestreamError):  # noqa: N818
    """Kafka does not answer now."""


class NoAnswer(JudgestreamError):  # noqa: N818
    """A command was sent, and nobody has answered it yet."""


class TopicError(JudgestreamError):
    """A topic that is missing, or that could not be created."""


class TooManyRejections(JudgestreamError):  # noqa: N818
    """More records are bad than a sound deployment would publish."""


class WrongLog(JudgestreamError):  # noqa: N818
    """The log was replaced, or cut, since the state was made from it."""


class StoreUnavailable(JudgestreamError):  # noqa: N818 - it names a condition, as ConnectionRefused does
    """The store does not answer now; the same call may be made again."""


class StoreCorrupt(JudgestreamError):  # noqa: N818
    """The store holds something that this version can't read."""


class ForeignCampaign(JudgestreamError):  # noqa: N818
    """The campaign is written by another partition, its `home`."""

    def __init__(self, campaign: str, home: str) -> None:
        super().__init__(f"the campaign {campaign!r} lives on {home}")
        self.home = home


class HistoryGone(JudgestreamError):  # noqa: N818
    """The log has lost its beginning."""


class Conflict(JudgestreamError):  # noqa: N818
    """The store's offset is neither the one before nor the one after this batch."""


class Fenced(JudgestreamError):  # noqa: N818
    """Another worker has taken the partition over; this one may write no more."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Name the known word that was probably meant, or list them all.

    >>> suggestion("truskill", ["trueskill", "grm"])
    "did you mean 'trueskill'?"
    >>> suggestion("x", ["b", "a"])
    'known: a, b'
    """
    names = sorted(known)
    close = get_close_matches(word, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
