"""How fast a file is rated: `judgestream rank FILE --json` in its own process, compared with the `trueskill` package.

Writes JSON Lines of judgments of 20 systems to a temporary folder. Judgments per second are over the whole process,
from its start to its end. The peak memory of two lengths shows that it does not grow with the log. The package gets the
first judgments of the same file, decoded by the standard library. Its time for all of them is extrapolated.

    python benchmarks/replay.py
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from datetime import timedelta
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import trueskill

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from streams.wire.events import EPOCH, Judgment  # noqa: E402

SYSTEMS = 20
GOAL_A_SECOND, GOAL_RATIO = 500_000, 300
CHUNK = 10_000


def write(file: Path, count: int, *, seed: int = 1) -> None:
    """Draw judgments of systems whose quality falls with their number, a fifth of them ties."""
    random = np.random.default_rng(seed)
    encoder = msgspec.json.Encoder()
    with file.open("wb") as stream:
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start)
            first = random.integers(SYSTEMS, size=size)
            second = (first + random.integers(1, SYSTEMS, size=size)) % SYSTEMS
            gap = (second - first) / SYSTEMS + random.normal(size=size)
            ranks = [(1, 1) if abs(each) < 0.25 else (1, 2) if each > 0 else (2, 1) for each in gap.tolist()]
            drawn = zip(range(start, start + size), first.tolist(), second.tolist(), ranks, strict=True)
            stream.write(
                encoder.encode_lines(
                    [
                        Judgment(
                            id=f"judgment-{number}",
                            campaign="benchmark",
                            segment=f"segment-{number % 3000}",
                            judge=f"judge-{number % 211}",
                            systems=(f"system-{a}", f"system-{b}"),
                            ranks=places,
                            at=EPOCH + timedelta(seconds=number),
                        )
                        for number, a, b, places in drawn
                    ]
                )
            )


class Run(NamedTuple):
    """One process: what it took, with its start and its end."""

    seconds: float
    cpu: float
    mebibytes: float  # at most


def ranked(file: Path) -> Run:
    """Rank a file in a fresh process."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_ranked, (file,))


def _ranked(file: Path) -> Run:
    """Run in a process that has no other children, because the usage is that of all of them."""
    command = [sys.executable, "-c", "from streams.cli.main import main; main()", "rank", str(file), "--json"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=environment)
    seconds = time.perf_counter() - began
    assert json.loads(done.stdout)["campaigns"][0]["judgments"]
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def peer(file: Path, count: int) -> float:
    """Rate the first judgments with the package; give the seconds of CPU."""
    environment = trueskill.TrueSkill(draw_probability=0.2)
    ratings: defaultdict[str, trueskill.Rating] = defaultdict(environment.create_rating)
    began = time.process_time()
    with file.open() as stream:
        for line in islice(stream, count):
            judgment = json.loads(line)
            groups = [(ratings[system],) for system in judgment["systems"]]
            for system, (rating,) in zip(judgment["systems"], environment.rate(groups, judgment["ranks"]), strict=True):
                ratings[system] = rating
    seconds = time.process_time() - began
    assert all(math.isfinite(rating.mu) for rating in ratings.values())
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--judgments", type=int, default=1_000_000, help="judgments in the long file (default: %(default)s)"
    )
    parser.add_argument("--part", type=int, default=200_000, help="judgments in the short file (default: %(default)s)")
    parser.add_argument(
        "--peer", type=int, default=10_000, help="judgments that the package rates (default: %(default)s)"
    )
    parser.add_argument("--runs", type=int, default=3, help="runs, of which the best counts (default: %(default)s)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'judgments':>10} {'seconds':>8} {'a second':>10} {'CPU':>8} {'a second':>10} {'peak MiB':>9}")
        found = {}
        for count in (chosen.part, chosen.judgments):
            file = Path(folder) / f"{count}.jsonl"
            write(file, count)
            ranked(file)  # the kernels may have to be compiled, which happens once
            runs = [ranked(file) for _ in range(chosen.runs)]
            best = found[count] = Run(*(min(column) for column in zip(*runs, strict=True)))
            speeds = [f"{each:8.2f} {count / each:10,.0f}" for each in (best.seconds, best.cpu)]
            print(f"{count:10,} {speeds[0]} {speeds[1]} {best.mebibytes:9.0f}")
        theirs = peer(file, chosen.peer) * chosen.judgments / chosen.peer
    ours = found[chosen.judgments]
    print(f"\ntrueskill: {theirs:,.0f} s of CPU for {count:,}, extrapolated from its first {chosen.peer:,}")
    print(f"judgments a second: {count / ours.seconds:,.0f} (goal: {GOAL_A_SECOND:,} or more)")
    print(f"times as fast as trueskill, by CPU: {theirs / ours.cpu:,.0f} (goal: {GOAL_RATIO} or more)")
    print(
        f"memory of the long file to the short one: {ours.mebibytes / found[chosen.part].mebibytes:.2f} (goal: about 1)"
    )


if __name__ == "__main__":
    main()
