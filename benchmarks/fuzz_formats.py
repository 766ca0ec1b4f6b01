"""Damage valid logs at random and read them. The only allowed error is FormatError, within five seconds and 300 MiB.

Every importer runs in its own process, so a crash is noticed too. A judgment that a worker would reject is also a
finding.

    python benchmarks/fuzz_formats.py --seconds 60
    python benchmarks/fuzz_formats.py --seconds 60 --format appraise --seed 7
"""

from __future__ import annotations

import argparse
import gzip
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from backports import zstd  # noqa: E402

from streams import formats  # noqa: E402
from streams.errors import FormatError  # noqa: E402
from streams.wire.decoding import decode  # noqa: E402
from streams.wire.events import encode  # noqa: E402
from tests.formats.samples import BATTLES, SAMPLES, WEBHOOK  # noqa: E402

if TYPE_CHECKING:
    from types import FrameType

CASE_SECONDS = 5
GROWTH_MIB = 300

SEEDS = {name: [sample.data] for name, sample in SAMPLES.items()}
SEEDS["arena"] += [BATTLES, b"[" + BATTLES.strip().replace(b"\n", b",") + b"]"]
SEEDS["label-studio"] += [WEBHOOK]

# What parsers stumble over.
TOKENS = [
    *(
        b'"',
        b"'",
        b",",
        b"|",
        b"+",
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b";",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"null",
        b"true",
        b"NaN",
        b"1e999",
        b"-0",
        b"[" * 200,
    ),
    *(b"<", b">", b"/>", b"&", b"&lt;", b"&x;", b"<!DOCTYPE a>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?xml"),
    *(b"0", b"-1", b"9" * 30, b"9" * 5000, b"1.5", b"1e5", b"inf", b"nan", b"x" * 300, b"=1+1", b"%25", b"%", b""),
]


def damaged(chance: random.Random, seeds: list[bytes], others: list[bytes]) -> bytes:
    """Damage one of the seeds, a little or much."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5, 20))):
        place = chance.randrange(len(data) + 1)
        end = min(len(data), place + chance.choice((0, 1, 1, 2, 8, 64)))
        kind = chance.randrange(7)
        if kind == 0 and data:
            data[min(place, len(data) - 1)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[place:end] = chance.choice(TOKENS)
        elif kind == 2:
            data[place:place] = chance.choice(TOKENS)
        elif kind == 3:
            del data[place:end]
        elif kind == 4:
            data[place:place] = data[place:end] * chance.choice((1, 2, 50))
        elif kind == 5:
            other = chance.choice(others)
            start = chance.randrange(len(other) + 1)
            data[place:end] = other[start : start + chance.choice((1, 16, 200))]
        else:
            del data[place:]
    return bytes(data[: 2**20])


def packed(chance: random.Random, data: bytes) -> bytes:
    """Compress now and then, and damage that too."""
    kind = chance.randrange(12)
    if kind > 3:
        return data
    whole = bytearray(gzip.compress(data, 1) if kind % 2 else zstd.compress(data, level=1))
    if kind > 1:
        whole[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
    return bytes(whole)


def read_one(name: str, data: bytes, chance: random.Random, folder: Path) -> str:
    """Read a damaged log in one of the ways there are; say how it ended."""
    file = folder / "log"
    from_file = name == "parquet" or chance.random() < 0.2
    if from_file:
        file.write_bytes(data)
    reading = formats.read(
        file if from_file else BytesIO(data),
        format=chance.choice((name, None)),
        campaign=chance.choice((None, "c")),
        on_error=chance.choice(("stop", "skip", lambda _: None)),
        shared_ties=chance.random() < 0.7,
    )
    try:
        for _, judgment in reading:
            if decode(encode(judgment), max_bytes=2**20) != judgment:
                raise AssertionError(f"not sound: {judgment}")
    except FormatError as error:
        if len(str(error)) > 2000:
            raise AssertionError("the message is endless") from None
        return "refused"
    summary = reading.summary
    if summary.rows != summary.judged + summary.skipped.total() + summary.left_out.total():
        raise AssertionError(f"rows are not accounted for: {summary}")
    return "rows skipped" if summary.skipped else "read"


def fuzz(name: str, *, seconds: float, seed: int, cases: int | None = None, alarm: float = 0) -> Counter[str]:
    """Fuzz one importer; what is found is raised, with the case left in a file.

    With an `alarm` every case gets that many seconds; the caller handles SIGALRM.
    """
    chance = random.Random(seed)
    others = [data for seeds in SEEDS.values() for data in seeds]
    ends: Counter[str] = Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until and (cases is None or ends.total() < cases):
            data = packed(chance, damaged(chance, SEEDS[name], others))
            try:
                if alarm:
                    signal.setitimer(signal.ITIMER_REAL, alarm)
                ends[read_one(name, data, chance, Path(folder))] += 1
                if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > GROWTH_MIB * 1024:
                    raise MemoryError(f"more than {GROWTH_MIB} MiB")
            except BaseException:
                if alarm:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                kept = Path(tempfile.gettempdir()) / f"fuzz-{name}-{seed}-{ends.total()}"
                kept.write_bytes(data)
                print(f"{name}: the case is in {kept}", file=sys.stderr)
                raise
    return ends


def _late(_: int, __: FrameType | None) -> None:
    raise TimeoutError(f"a case of more than {CASE_SECONDS} seconds")


def run(name: str, seconds: float, seed: int) -> None:
    """Fuzz one importer, in a process of its own, and print how the cases ended."""
    signal.signal(signal.SIGALRM, _late)
    ends = fuzz(name, seconds=seconds, seed=seed, alarm=CASE_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(
        f"{name:14}{ends.total():>9,} cases: " + ", ".join(f"{n:,} {end}" for end, n in ends.most_common()), flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="seconds per importer (default: 60)")
    parser.add_argument("--format", choices=sorted(SEEDS), help="the only format to test (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = []
    for name in [options.format] if options.format else SEEDS:
        process = get_context("spawn").Process(target=run, args=(name, options.seconds, options.seed))
        process.start()
        process.join(options.seconds + 60)
        if process.exitcode is None:
            process.kill()
        if process.exitcode != 0:
            failed.append(f"{name} (exit code {process.exitcode})")
    print(f"failed: {', '.join(failed)}" if failed else "no crash, no hang, no growth: only FormatError")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
