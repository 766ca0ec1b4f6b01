"""What a worker can say of itself: whether it lives, whether it is ready, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass, field
from signal import SIGTERM, raise_signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streams.errors import JudgestreamError

# A loop that has not come round for so long will not come round any more.
STUCK_SECONDS = 60.0


@dataclass
class Status:
    """The worker's state; `ready` and `live` give a word on it, or None if all is well."""

    waiting: dict[str, str] = field(default_factory=dict)  # for whom, and why
    assigned: int = 0
    open: int = 0
    joined: bool = False
    failure: JudgestreamError | None = None  # what the worker stopped for
    beat: float = 0.0  # when the reading loop last came round

    def fail(self, error: JudgestreamError) -> None:
        """Stop the worker in order, as an operator would, for a reason that a restart does not mend."""
        if self.failure is None:
            self.failure = error
            raise_signal(SIGTERM)

    def wait_for(self, whom: str, why: str) -> None:
        """Remember that a server is away."""
        self.waiting[whom] = why

    def answers(self, whom: str) -> None:
        """Remember that it is back."""
        self.waiting.pop(whom, None)

    def not_ready(self) -> str | None:
        """Say why work does not go on now, or None if it does.

        >>> Status(joined=True, assigned=2, open=1).not_ready()
        '1 of 2 partitions are not open yet'
        """
        if self.failure:
            return str(self.failure)
        if self.waiting:
            return "; ".join(f"waiting for {whom}: {why}" for whom, why in sorted(self.waiting.items()))
        if not self.joined:
            return "not in the consumer group yet"
        if self.open < self.assigned:
            return f"{self.assigned - self.open} of {self.assigned} partitions are not open yet"
        return None

    def not_live(self, now: float) -> str | None:
        """Say why only a restart would help, or None if it would not; waiting for a server is no reason.

        >>> Status(beat=100.0).not_live(now=120.0)
        """
        if self.waiting or now - self.beat < STUCK_SECONDS:
            return None
        return f"the reading loop has not come round for {now - self.beat:.0f} s"
