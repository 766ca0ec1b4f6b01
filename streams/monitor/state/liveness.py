"""Whether the workers do their work: compares the log's ends, the stored offsets and the workers' reports.

A partition is stalled if records wait in it and its offset does not move. That alone is a problem after some seconds.
The reports say whose it is. All times are given by the caller, and the ages of the reports come from the store, so a
clock that is wrong changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.monitor.state.findings import Finding, count_records, name_partitions, sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from streams.monitor.backends.base import Lag
    from streams.stores.workers import WorkerReport

UNSERVED_SECONDS = 4.0  # records wait, and no worker is there at all
STALL_SECONDS = 7.0  # records wait, and workers are there; a batch or a takeover in order takes less
OPENING_SECONDS = 30.0  # a worker loads the state of a partition
# After a time in which nothing was seen, also because Redis was away, the workers get so long to report again.
GRACE_SECONDS = 8.0
PAUSE_SECONDS = 5.0  # two looks that are further apart: nobody looked in between, so nothing is known of that time
FORWARDED_SECONDS = 300.0  # misrouted records are shown for so long after the last one

START = "Start a worker: judgestream worker."
RESTART = "If it stays so, look at its log and restart it."
TAKE_OVER = (
    "Waiting for another worker to take over, for up to session_timeout_seconds (20 by default). "
    "If it stays so, look at the workers' logs."
)
PARTITIONER = (
    "A producer uses another partitioner. With librdkafka set partitioner=murmur2_random, otherwise use the "
    "default partitioner of the Java client."
)


@dataclass(frozen=True)
class Findings:
    """The result of one look. `stalled` are the partitions whose records wait because of a problem."""

    problems: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    stalled: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Stall:
    """Since when a partition is stalled, at which offset, with which worker, and whether that has rated it already."""

    applied: int
    worker: str
    was_open: bool
    since: float

    def next(self, applied: int, worker: str, *, is_open: bool, now: float) -> _Stall:
        """Return what is known after another look. A new worker gets new time, and once more when it has opened."""
        if (applied, worker) != (self.applied, self.worker) or (is_open and not self.was_open):
            return _Stall(applied, worker, is_open, now)
        return self


class Liveness:
    """Remembers between two looks since when each partition is stalled."""

    def __init__(self, *, grace_seconds: float = GRACE_SECONDS) -> None:
        self._grace_seconds = grace_seconds
        self._stalls: dict[int, _Stall] = {}
        self._began_at: float | None = None  # the first look since then
        self._looked_at: float | None = None
        self._forwarded: dict[int, int] = {}
        self._forwards: list[tuple[float, int]] = []  # when records were forwarded lately, and how many

    def forget(self) -> None:
        """Begin anew, after a time in which nothing was seen."""
        self._stalls.clear()
        self._began_at = self._looked_at = None

    def judge(self, now: float, lags: Sequence[Lag], workers: Sequence[WorkerReport]) -> Findings:
        """Return what is wrong now. `now` is on a clock that only this object uses."""
        if self._looked_at is not None and now - self._looked_at > PAUSE_SECONDS:
            self.forget()
        self._looked_at = now
        self._began_at = now if self._began_at is None else self._began_at
        waiting = {lag.partition: lag.readable - lag.applied for lag in lags if lag.readable > lag.applied}
        in_grace = now - self._began_at < self._grace_seconds
        live = [worker for worker in workers if in_grace or not worker.is_silent]
        owners = {number: worker for worker in live for number in worker.partitions}
        self._stalls = {
            lag.partition: self._update_stall(now, lag, owners.get(lag.partition))
            for lag in lags
            if lag.partition in waiting
        }
        stopped = {lag.partition: lag.stopped for lag in lags if lag.stopped}
        stopped |= {number: reason for worker in live for number, reason in worker.stopped.items()}

        problems = [_stopped(number, reason) for number, reason in sorted(stopped.items())]
        notes: list[Finding] = []
        orphans: set[int] = set()
        for worker in workers:
            if worker not in live:
                left = worker.partitions - owners.keys() - stopped.keys()
                orphans |= left
                (problems if left else notes).append(_silent(worker, left, waiting, has_others=bool(live)))
        patience = self._grace_seconds if in_grace else STALL_SECONDS if live else UNSERVED_SECONDS
        unserved = self._find_stalled(now, waiting.keys() - owners.keys() - orphans - stopped.keys(), patience)
        if unserved:
            problems.append(_unserved(unserved, waiting, has_workers=bool(live)))
        for worker in live:
            problems += self._stuck(now, worker, waiting, worker.partitions - stopped.keys())
            notes += [
                Finding(kind="transaction_open", text=sentence(text), partitions=(number,))
                for number, text in worker.waiting.items()
            ]
        if not live and not problems and lags:
            notes.append(Finding(kind="no_worker", text="No worker is running. Nothing waits.", fix=START))
        notes += self._misrouted(now, lags)
        stalled = {number for problem in problems for number in problem.partitions if number in waiting}
        return Findings(tuple(problems), tuple(notes), frozenset(stalled))

    def _update_stall(self, now: float, lag: Lag, owner: WorkerReport | None) -> _Stall:
        worker, is_open = ("", False) if owner is None else (owner.worker, lag.partition in owner.open)
        before = self._stalls.get(lag.partition) or _Stall(lag.applied, worker, is_open, now)
        return before.next(lag.applied, worker, is_open=is_open, now=now)

    def longest_stall(self, now: float) -> float:
        """Return for how many seconds records wait in a partition that does not move, in the worst one."""
        return max((now - stalled.since for stalled in self._stalls.values()), default=0.0)

    def _find_stalled(self, now: float, numbers: Collection[int], seconds: float) -> list[int]:
        found = (number for number in numbers if number in self._stalls)
        return sorted(number for number in found if now - self._stalls[number].since >= seconds)

    def _stuck(
        self, now: float, worker: WorkerReport, waiting: Mapping[int, int], numbers: Collection[int]
    ) -> Iterator[Finding]:
        """Yield why partitions of a worker that reports are stalled."""
        stalled = self._find_stalled(now, numbers, STALL_SECONDS)
        late = self._find_stalled(now, worker.opening, OPENING_SECONDS)
        opened = [number for number in stalled if number not in worker.opening]
        if not opened and not late:
            return
        longest = max(now - self._stalls[number].since for number in opened or late)
        detail, fix = f"Nothing was applied for {longest:.0f} s.", RESTART
        if worker.away:
            away = "; ".join(f"{server} ({reason})" for server, reason in sorted(worker.away.items()))
            text, fix = f"waits for {away}", "It goes on when the server answers."
        elif opened and (worker.working_seconds or 0.0) >= UNSERVED_SECONDS:
            text = "does not finish the batch that it works on"
            detail = f"It has worked on it for {worker.working_seconds:.0f} s."
        elif opened:
            text = f"applies nothing of {name_partitions(opened)}"
        else:
            text = f"has not loaded the state of {name_partitions(late)} yet"
        yield Finding(
            kind="worker_stuck",
            text=sentence(f"the worker {worker.worker} {text}"),
            detail=f"{_waiting_in(opened or late, waiting)} {detail}",
            fix=fix,
            partitions=tuple(opened or late),
        )

    def _misrouted(self, now: float, lags: Sequence[Lag]) -> Iterator[Finding]:
        """Yield a note if records came to the wrong partition in the last minutes."""
        grown = sum(max(0, lag.forwarded - self._forwarded.get(lag.partition, lag.forwarded)) for lag in lags)
        self._forwarded = {lag.partition: lag.forwarded for lag in lags}
        if grown:
            self._forwards.append((now, grown))
        self._forwards = [each for each in self._forwards if now - each[0] <= FORWARDED_SECONDS]
        if total := sum(number for _, number in self._forwards):
            text = "Records come to the wrong partition. They are forwarded to the right one, and none is lost."
            minutes = f"{FORWARDED_SECONDS / 60:.0f} minutes"
            yield Finding(kind="misrouted", text=text, detail=f"{total:,} in the last {minutes}.", fix=PARTITIONER)


def _waiting_in(numbers: Collection[int], waiting: Mapping[int, int]) -> str:
    stalled = [number for number in numbers if number in waiting]
    if not stalled:
        return ""
    return f"{count_records(sum(waiting[number] for number in stalled))} in {name_partitions(stalled)}."


def _stopped(number: int, reason: str) -> Finding:
    text, _, fix = reason.partition(". ")
    return Finding(
        kind="partition_stopped",
        text=sentence(f"partition {number} is stopped, the others go on: {text}"),
        fix=fix,  # it may end with a command
        partitions=(number,),
    )


def _silent(worker: WorkerReport, left: Collection[int], waiting: Mapping[int, int], *, has_others: bool) -> Finding:
    text = f"The worker {worker.worker} does not report any more. It was killed, or it hangs."
    if not left:
        return Finding(kind="worker_silent", text=text, fix="No partition waits for it.")
    return Finding(
        kind="worker_silent",
        text=text,
        detail=_waiting_in(left, waiting) or f"It has {name_partitions(left)}. Nothing waits yet.",
        fix=TAKE_OVER if has_others else f"{START} If its process still runs, look at its log and end it.",
        partitions=tuple(sorted(left)),
    )


def _unserved(numbers: Sequence[int], waiting: Mapping[int, int], *, has_workers: bool) -> Finding:
    if not has_workers:
        return Finding(
            kind="no_worker",
            text="No worker is running, and records wait. Nothing is lost.",
            detail=_waiting_in(numbers, waiting),
            fix=START,
            partitions=tuple(numbers),
        )
    verb = "has" if len(numbers) == 1 else "have"
    return Finding(
        kind="partition_unserved",
        text=sentence(f"{name_partitions(numbers)} {verb} no worker"),
        detail=_waiting_in(numbers, waiting),
        fix=TAKE_OVER,
        partitions=tuple(numbers),
    )
