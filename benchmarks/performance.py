"""Run all benchmarks that docs/performance.md shows, and write its tables and pictures.

    pip install -e '.[bench]'
    python benchmarks/performance.py                 # all: about 20 minutes on two quiet cores
    python benchmarks/performance.py --quick         # all, shorter and less exact: about 5 minutes
    python benchmarks/performance.py --only latency  # one section; the others stay as they were
    python benchmarks/performance.py --write         # only the page, from benchmarks/results.json

The results of all sections are in benchmarks/results.json. A section whose script fails keeps its former figures, and
the command then ends with exit code 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page import draw, write_tables  # noqa: E402
from benchmarks.sources import SOURCES, Source, merge_repeats, read_figures  # noqa: E402
from streams.bench.figures import BenchResults, Figure, Section  # noqa: E402
from streams.bench.suite import run_section  # noqa: E402
from streams.bench.tables import rows  # noqa: E402

RESULTS, PAGE, PICTURES = ROOT / "benchmarks/results.json", ROOT / "docs/performance.md", ROOT / "docs/pictures"
LEFT_OUT = "PYTHONDONTWRITEBYTECODE"  # with it, each process would compile all modules and kernels again


def run(source: Source, *, quick: bool) -> list[Figure]:
    """Run a benchmark. Return its figures."""
    program, *options = source.command(quick=quick)
    script = [str(Path(sys.executable).with_name("judgestream"))]
    if program != "judgestream":
        script = [sys.executable, str(ROOT / "benchmarks" / program)]
    environment = {name: value for name, value in os.environ.items() if name != LEFT_OUT}
    command = [*script, *options]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as running:
        try:
            printed, _ = running.communicate()
        except KeyboardInterrupt:
            running.wait()  # it stops its servers
            raise
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command)
    return read_figures(printed)


def measure(source: Source, *, quick: bool) -> Section:
    """Return the section of a benchmark."""
    repeats = 1 if quick else source.repeats
    return run_section(lambda: merge_repeats(run(source, quick=quick) for _ in range(repeats)), quick=quick)


def read_results() -> BenchResults:
    """Return the results so far."""
    if not RESULTS.exists():
        return BenchResults(sections={})
    return BenchResults.decode(RESULTS.read_bytes(), place=str(RESULTS))


def store(name: str, section: Section) -> None:
    """Replace a section of the results. They are read again, because another run may have changed other sections."""
    sections = read_results().sections | {name: section}
    places = {source.section: place for place, source in enumerate(SOURCES)}
    in_order = dict(sorted(sections.items(), key=lambda item: places.get(item[0], len(places))))
    RESULTS.write_bytes(BenchResults(sections=in_order).encode())


def write(results: BenchResults) -> None:
    """Write the page and its pictures."""
    PAGE.write_text(write_tables(PAGE.read_text(), results.sections))
    if "growth" in results.sections:
        draw(results.sections["growth"], PICTURES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter and less exact")
    parser.add_argument("--only", nargs="+", choices=[each.section for each in SOURCES], help="sections to measure")
    parser.add_argument("--write", action="store_true", help="measure nothing, only write the page")
    chosen = parser.parse_args()
    failed = []
    for source in SOURCES:
        if chosen.write or (chosen.only and source.section not in chosen.only):
            continue
        if source.script != "judgestream" and not (ROOT / "benchmarks" / source.script).exists():
            print(f"== {source.section}: there is no benchmarks/{source.script}", flush=True)
            continue
        print(f"== {source.section}", flush=True)
        try:
            section = measure(source, quick=chosen.quick)
        except (subprocess.CalledProcessError, ValueError, KeyError) as error:
            print(f"   failed, the former figures stay: {error}", flush=True)
            failed.append(source.section)
            continue
        for name, median, _, goal, verdict in rows(section.figures):
            print(f"   {name:66} {median:>28}  {goal:18} {verdict.strip('*')}".rstrip())
        print(f"   took {section.seconds:.0f} s", flush=True)
        store(source.section, section)
    write(read_results())
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
