"""What a worker reports about itself: whether it is alive, whether it is ready, and which servers it waits for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streams.wire.quarantine import Quarantine, way_out

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

# A reading loop that has not run for this long will not run any more.
STUCK_SECONDS = 60.0
MOST_NAMED = 20  # quarantined campaigns


@dataclass
class WorkerStatus:
    """The state of a worker, as the health endpoints and the metrics report it."""

    away: dict[str, str] = field(default_factory=dict)  # servers that do not answer, and why
    assigned: int = 0  # partitions
    open: int = 0  # partitions
    joined: bool = False
    waiting: dict[str, str] = field(default_factory=dict)  # partitions that wait for a transaction, and for which
    stopped: dict[str, str] = field(default_factory=dict)  # partitions that wait for an operator, and why
    quarantined: dict[str, Quarantine] = field(default_factory=dict)  # campaigns that are not rated now
    rerun_progress: dict[str, float] = field(default_factory=dict)  # share of the log that is rated again
    loop_ran_at: float = 0.0  # when the reading loop last ran
    work_began_at: float | None = None  # when the work in the rating thread began, if there is any

    def mark_away(self, server: str, reason: str) -> None:
        """Remember that a server does not answer."""
        self.away[server] = reason

    def mark_back(self, server: str) -> None:
        """Remember that a server answers."""
        self.away.pop(server, None)

    def find_readiness_problem(self) -> str | None:
        """Return why the worker can't work now, or None if it can.

        >>> WorkerStatus(joined=True, assigned=2, open=1).find_readiness_problem()
        '1 of 2 partitions are not open yet'
        """
        if self.away:
            return "; ".join(f"waiting for {server}: {reason}" for server, reason in sorted(self.away.items()))
        if not self.joined:
            return "not in the consumer group yet"
        if self.stopped:
            problems = sorted(self.stopped.items())
            return "\n".join(f"{partition} is stopped: {problem}" for partition, problem in problems)
        if self.open < self.assigned:
            return f"{self.assigned - self.open} of {self.assigned} partitions are not open yet"
        return None

    @property
    def reruns(self) -> list[str]:
        """The campaigns that are rated again, or wait for it."""
        return [name for name, quarantine in self.quarantined.items() if quarantine.cause != "fault"]

    def describe_readiness(self) -> str:
        """Return what a ready worker reports: which campaigns it does not serve, and what to do.

        >>> WorkerStatus(quarantined={"a": Quarantine(offset=1, error="")}).describe_readiness()
        'ok, but 1 campaign is quarantined: a. Update Judgestream, then run: judgestream rebuild NAME'
        >>> again = {"a": Quarantine(offset=1, error="", cause="retraction")}
        >>> WorkerStatus(quarantined=again, rerun_progress={"a": 0.45}).describe_readiness()
        'ok, but 1 campaign is being rated again: a (after a retraction: 45%)'
        """
        parts = []
        if faults := [name for name, found in self.quarantined.items() if found.cause == "fault"]:
            parts.append(f"{_campaigns(faults)} quarantined: {_names(faults)}. {way_out('NAME')}")
        if reruns := self.reruns:
            parts.append(f"{_campaigns(reruns)} being rated again: {_names(map(self._describe_rerun, reruns))}")
        return f"ok, but {'; '.join(parts)}" if parts else "ok"

    def _describe_rerun(self, name: str) -> str:
        cause = _CAUSES[self.quarantined[name].cause]
        return (
            f"{name} ({cause}: {self.rerun_progress[name]:.0%})" if name in self.rerun_progress else f"{name} ({cause})"
        )

    def find_liveness_problem(self, now: float) -> str | None:
        """Return why only a restart would help, or None. A server that does not answer is no reason.

        >>> WorkerStatus(loop_ran_at=100.0).find_liveness_problem(now=120.0)
        """
        if self.away or now - self.loop_ran_at < STUCK_SECONDS:
            return None
        return f"the reading loop has not run for {now - self.loop_ran_at:.0f} s"


_CAUSES = {
    "fault": "quarantined",
    "corrupt": "its stored state is corrupt",
    "outdated": "an earlier version stored it",
    "retraction": "after a retraction",
}


def _campaigns(names: Collection[str]) -> str:
    return "1 campaign is" if len(names) == 1 else f"{len(names)} campaigns are"


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    more = len(listed) - MOST_NAMED
    return ", ".join(listed[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
