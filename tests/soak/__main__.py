"""Run a soak: `make soak`, or `python -m tests.soak --help`."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.soak.events import EVENTS
from tests.soak.run import Plan, running, soak

LAST_EVENTS = 25


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a soak and return its exit code."""
    plan = _plan(arguments)
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"seed {plan.seed}, {plan.seconds:g} s, events: {', '.join(plan.events)}\nlogs in {plan.folder}", flush=True)
    try:
        with running(plan) as scene:
            try:
                soak(plan, scene)
            except AssertionError as error:
                lines = "\n".join(scene.journal[-LAST_EVENTS:])
                print(f"\nFAILED with seed {plan.seed}. The last events:\n{lines}\n\n{error}\n\nlogs in {plan.folder}")
                return 1
    except KeyboardInterrupt:
        print("interrupted; all processes that were started are stopped", file=sys.stderr)
        return 130
    print(f"passed with seed {plan.seed}")
    return 0


def _plan(arguments: Sequence[str] | None) -> Plan:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="seconds with faults (default: %(default)g)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random number generators")
    parser.add_argument("--campaigns", type=int, default=200, help="number of campaigns (default: %(default)d)")
    parser.add_argument("--partitions", type=int, default=6, help="partitions of the log (default: %(default)d)")
    parser.add_argument("--workers", type=int, default=3, help="number of workers (default: %(default)d)")
    parser.add_argument("--rate", type=float, default=200, help="records per second (default: %(default)g)")
    parser.add_argument("--single", action="store_true", help="one Redis instead of a cluster of three nodes")
    parser.add_argument("--only", type=_names, help="only these events, comma-separated")
    parser.add_argument("--without", type=_names, default=(), help="all events but these, comma-separated")
    parser.add_argument("--folder", type=Path, help="folder for data and logs (default: a new one)")
    chosen = parser.parse_args(arguments)
    usual = [name for name, event in EVENTS.items() if event.weight]
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    return Plan(
        folder=folder.absolute(),
        seconds=chosen.seconds,
        seed=chosen.seed,
        campaigns=chosen.campaigns,
        partitions=chosen.partitions,
        workers=chosen.workers,
        nodes=1 if chosen.single else 3,
        per_second=chosen.rate,
        events=[name for name in chosen.only or usual if name not in chosen.without],
    )


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in EVENTS:
            raise argparse.ArgumentTypeError(f"there is no event {name!r}. Choose among {', '.join(EVENTS)}.")
    return names


if __name__ == "__main__":
    sys.exit(main())
