"""Damage valid records, HTTP bodies and files at random. Every one must be applied, rejected or refused with a reason.

None may take more than 100 ms of CPU time or 256 MiB of memory. A record goes through the processor of a worker, with
a store in memory; the counts must add up. A file goes through its importer: a judgment that a worker would reject is
a finding too. Files are damaged in their bytes and in what they mean: columns in another order, values of another type,
huge cells. Some are read with the features of their outputs. Every target runs in its own process, so a crash is
noticed. Records and bodies have up to 1 MB, files up to 64 kB, because the time for a file grows with its size.

    python benchmarks/fuzz.py --cases 100000
    python benchmarks/fuzz.py --cases 5000 --target appraise --seed 7
    python benchmarks/fuzz.py --cases 2000 --huge 8000000 --most-seconds 10
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.mutations import BODIES, CONTAINERS, MAPPED_SEEDS, RECORDS, SEEDS, damaged, packed
from benchmarks.structured_mutations import restructured
from streams import formats
from streams.errors import FormatError, RecordError
from streams.formats.features import COUNTED, OutputFeatures
from streams.monitor.http.bodies import judgments_in, label_studio_judgments
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire.decoding import decode
from streams.wire.events import Rejection, encode
from streams.wire.topics import REJECTED

if TYPE_CHECKING:
    from collections.abc import Callable

CASE_SECONDS = 0.1
GROWTH_MIB = 256
LONGEST_RECORD = 1_000_000
LONGEST_FILE = 64_000
LONGEST_MESSAGE = 5000
PER_PROCESSOR = 100  # cases, then a new one
NOW = datetime(2024, 1, 1, tzinfo=UTC)
OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))


class RecordTarget:
    """A partition that receives damaged records, each one between two good ones."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._left = 0

    def make(self) -> bytes:
        if not self._left:
            self._processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS)
            self._left, self._offset = PER_PROCESSOR, 0
        self._left -= 1
        return damaged(self._chance, RECORDS, LONGEST_RECORD)

    def run(self, data: bytes) -> str:
        before = self._processor.counts()
        outputs = self._processor.process([Record(self._offset, b"c", data)])
        self._offset += 1
        for output in outputs:
            if output.topic == REJECTED.name:
                _check_message(msgspec.json.decode(output.value, type=Rejection).message)
        after = self._processor.counts()
        all_ends = ("deleted", "applied", "duplicate", "rejected", "held", "forwarded")
        grown = [name for name in all_ends if getattr(after, name) > getattr(before, name)]
        if after.read != before.read + 1 or after.read != sum(getattr(after, name) for name in all_ends):
            raise AssertionError(f"the record is not accounted for: {before}, then {after}")
        return grown[0]


class BodyTarget:
    """The monitor's reading of posted bodies."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def make(self) -> bytes:
        return damaged(self._chance, BODIES, LONGEST_RECORD)

    def run(self, data: bytes) -> str:
        try:
            if self._chance.random() < 0.3:
                label_studio_judgments(data, campaign="c", now=NOW)
            else:
                in_lines = self._chance.random() < 0.3
                judgments_in(data, campaign="campaign-0", now=NOW, max_bytes=LONGEST_RECORD, in_lines=in_lines)
        except RecordError as error:
            _check_message(error)
            return "rejected"
        return "accepted"


def _spoiled(chance: random.Random, seeds: list[bytes], huge: int) -> bytes:
    """Damage the bytes of a file, or what they mean. `huge` is the length of a huge cell."""
    if huge > LONGEST_FILE or chance.random() < 0.3:
        return restructured(chance, chance.choice(seeds), huge)
    return damaged(chance, seeds, LONGEST_FILE)


class FileTarget:
    """An importer."""

    huge = LONGEST_FILE // 2

    def __init__(self, name: str, chance: random.Random, folder: Path) -> None:
        self._name, self._chance, self._file = name, chance, folder / "log"

    def make(self) -> bytes:
        return packed(self._chance, _spoiled(self._chance, SEEDS[self._name], self.huge))

    def run(self, data: bytes) -> str:
        chance = self._chance
        from_file = self._name == "parquet" or chance.random() < 0.2
        if from_file:
            self._file.write_bytes(data)
        return _read(
            self._file if from_file else BytesIO(data),
            chance,
            format=chance.choice((self._name, None)),
            shared_ties=chance.random() < 0.7,
        )


class MappedTarget:
    """A table that is read by the names of its columns. Now and then the mapping is one of another table."""

    huge = LONGEST_FILE // 2

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self._chance, self._file = chance, folder / "table"

    def make(self) -> bytes:
        self._columns = self._chance.choice(list(MAPPED_SEEDS))
        self._values, data = MAPPED_SEEDS[self._columns]
        if self._chance.random() < 0.1:
            self._columns = self._chance.choice(list(MAPPED_SEEDS))
        return packed(self._chance, _spoiled(self._chance, [data], self.huge))

    def run(self, data: bytes) -> str:
        self._file.write_bytes(data)
        columns = self._chance.choice((self._columns, self._columns, None))  # without it, a mapping is proposed
        return _read(self._file, self._chance, columns=columns, values=self._values if columns else ())


class ContainerTarget:
    """An archive, an Excel file or another encoding, in a file."""

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self._chance, self._file = chance, folder / "container"

    def make(self) -> bytes:
        return damaged(self._chance, CONTAINERS, LONGEST_FILE)

    def run(self, data: bytes) -> str:
        self._file.write_bytes(data)
        return _read(self._file, self._chance, encoding=self._chance.choice((None, None, "latin-1", "utf-16")))


def _read(source: Path | BytesIO, chance: random.Random, **options: Any) -> str:
    """Read a log and check what it has."""
    reading = formats.read(
        source,
        campaign=chance.choice((None, "c")),
        on_error=chance.choice(("stop", "skip", _check_message)),
        **options,
    )
    if chance.random() < 0.3:
        reading.features = OutputFeatures(chance.choice((COUNTED, ("length",), ("score", "rank"))))
    try:
        for judgment in chain.from_iterable(
            batch.judgments for batch in reading.batches(columns=chance.random() < 0.5)
        ):
            if reading.features is not None:
                reading.features.of(judgment)
            if decode(encode(judgment), max_bytes=2**20) != judgment:
                raise AssertionError(f"not sound: {judgment}")
    except FormatError as error:
        _check_message(error)
        return "refused"
    summary = reading.summary
    if summary.rows != summary.judged + summary.skipped.total() + summary.left_out.total():
        raise AssertionError(f"rows are not accounted for: {summary}")
    return "rows skipped" if summary.skipped else "read"


def _check_message(error: Exception | str) -> None:
    text = str(error)
    if not text.isprintable() or len(text) > LONGEST_MESSAGE:
        raise AssertionError(f"a message that can't be printed: {text[:LONGEST_MESSAGE]!r}")


Target = RecordTarget | BodyTarget | FileTarget | MappedTarget | ContainerTarget
TARGETS: dict[str, Callable[[random.Random, Path], Target]] = {
    "records": lambda chance, _: RecordTarget(chance),
    "bodies": lambda chance, _: BodyTarget(chance),
    "columns": MappedTarget,
    "containers": ContainerTarget,
} | {name: lambda chance, folder, name=name: FileTarget(name, chance, folder) for name in SEEDS}  # type: ignore[misc]
SHARES = {"records": 0.4, "bodies": 0.1}  # of the cases; the importers share the rest


@dataclass
class FuzzReport:
    """How the cases of one target ended, and what the worst one took."""

    ends: Counter[str] = field(default_factory=Counter)
    slowest: float = 0  # seconds of CPU time
    growth: int = 0  # MiB


def fuzz(
    name: str, *, cases: int, seed: int, most_seconds: float = CASE_SECONDS, huge: int | None = None
) -> FuzzReport:
    """Fuzz one target. What is found is raised, with the case left in a file. `huge` is the length of a huge cell."""
    chance = random.Random(seed)
    report = FuzzReport()
    with tempfile.TemporaryDirectory() as folder:
        target = TARGETS[name](chance, Path(folder))
        if huge is not None and isinstance(target, FileTarget | MappedTarget):
            target.huge = huge
        warm_up = TARGETS[name](random.Random(0), Path(folder))
        for _ in range(50):  # what is loaded once belongs to no case
            warm_up.run(warm_up.make())
        before = _peak_mib()
        while report.ends.total() < cases:
            data = target.make()
            if report.ends.total() % 1000 == 0:
                gc.collect()  # a case must not pay for the others
            try:
                began = time.thread_time()
                report.ends[target.run(data)] += 1
                report.slowest = max(report.slowest, time.thread_time() - began)
                report.growth = _peak_mib() - before
                if report.slowest > most_seconds:
                    raise TimeoutError(f"a case took {report.slowest * 1000:.0f} ms of CPU time")
                if report.growth > GROWTH_MIB:
                    raise MemoryError(f"a case took {report.growth} MiB")
            except BaseException:
                kept = Path(tempfile.gettempdir()) / f"fuzz-{name}-{seed}-{report.ends.total()}"
                kept.write_bytes(data)
                print(f"{name}: the case is in {kept}", file=sys.stderr)
                raise
    return report


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run(name: str, cases: int, seed: int, most_seconds: float, huge: int | None = None) -> None:
    """Fuzz one target, in a process of its own, and print how the cases ended."""
    report = fuzz(name, cases=cases, seed=seed, most_seconds=most_seconds, huge=huge)
    ends = ", ".join(f"{count:,} {end}" for end, count in report.ends.most_common())
    worst = f"slowest {report.slowest * 1000:.0f} ms, memory +{report.growth} MiB"
    print(f"{name:14}{report.ends.total():>9,} cases, {worst}: {ends}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000, help="number of cases, of all targets (default: 100000)")
    parser.add_argument("--target", choices=sorted(TARGETS), help="the only target to test (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--most-seconds", type=float, default=CASE_SECONDS, help="CPU time that a case may take (default: 0.1)"
    )
    parser.add_argument("--huge", type=int, help="length of a huge cell in files, whose bytes are not damaged then")
    options = parser.parse_args()
    rest = (1 - sum(SHARES.values())) / (len(TARGETS) - len(SHARES))
    failed = []
    for name in [options.target] if options.target else TARGETS:
        cases = options.cases if options.target else round(options.cases * SHARES.get(name, rest))
        arguments = (name, cases, options.seed, options.most_seconds, options.huge)
        process = get_context("spawn").Process(target=run, args=arguments)
        process.start()
        process.join()
        if process.exitcode != 0:
            failed.append(f"{name} (exit code {process.exitcode})")
    print(f"failed: {', '.join(failed)}" if failed else "every case ended as it should, in time and in bounded memory")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
