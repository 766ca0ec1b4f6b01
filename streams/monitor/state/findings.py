"""What an operator should know now: problems, notes, and what to do about each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Kind = Literal[
    "monitor_failed",
    "server_away",
    "no_worker",
    "worker_silent",
    "worker_stuck",
    "partition_unserved",
    "partition_stopped",
    "transaction_open",
    "misrouted",
]


class Finding(Struct, frozen=True, kw_only=True):
    """A problem or a note. `text` stays the same as long as it lasts, `detail` has the present numbers.

    `fix` says what to do.
    """

    kind: Kind
    text: str
    detail: str = ""
    fix: str = ""
    partitions: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " ".join(filter(None, (self.text, self.detail, self.fix)))


def own_problems(failure: str | None, waiting: Iterable[str]) -> list[Finding]:
    """Return the problems of the monitor itself: a task that has ended, and servers that are away.

    >>> [str(each) for each in own_problems(None, ["waiting for Redis: refused"])]
    ['Waiting for Redis: refused. It goes on by itself when the server answers.']
    """
    goes_on = "It goes on by itself when the server answers."
    away = [Finding(kind="server_away", text=sentence(text), fix=goes_on) for text in waiting]
    if failure is None:
        return away
    return [Finding(kind="monitor_failed", text=sentence(failure), fix="Restart the monitor."), *away]


def name_partitions(numbers: Collection[int]) -> str:
    """Return partitions as words.

    >>> name_partitions([3]), name_partitions([2, 0, 1])
    ('partition 3', 'partitions 0, 1 and 2')
    """
    words = [str(number) for number in sorted(numbers)]
    if len(words) == 1:
        return f"partition {words[0]}"
    return f"partitions {', '.join(words[:-1])} and {words[-1]}"


def count_records(number: int) -> str:
    """Return a number of records with its verb.

    >>> count_records(1), count_records(1200)
    ('1 record waits', '1,200 records wait')
    """
    return "1 record waits" if number == 1 else f"{number:,} records wait"


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop.

    >>> sentence("records are gone")
    'Records are gone.'
    """
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")
