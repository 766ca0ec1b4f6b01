"""How tests wait: for a condition, with a limit that only a failure reaches."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

# Generous, because a busy machine is slow. A condition that comes early ends the wait early.
PATIENCE_SECONDS = 300.0
_PRESSURE = Path("/proc/pressure/cpu")


def wait_for(
    condition: Callable[[], object], what: str | Callable[[], str] = "the condition", *, pause: float = 0.02
) -> None:
    """Wait until a condition holds. If it does not within the limit, fail and say what was waited for."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what() if callable(what) else what}: not within {PATIENCE_SECONDS:.0f} s")
        time.sleep(pause)


def calm_time() -> float:
    """Return the seconds of a clock that stands still while processes of this machine wait for a CPU.

    A promise in seconds is checked with it: it holds on a machine that is not overloaded. Where the kernel does not
    measure the waiting (Linux: pressure stall information), this is an ordinary clock.
    """
    now = time.monotonic()
    try:
        stalled = re.search(r"^some .*total=(\d+)", _PRESSURE.read_text(), re.MULTILINE)
    except OSError:
        return now
    return now - int(stalled[1]) / 1e6 if stalled else now
