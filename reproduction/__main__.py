"""Run the experiments of the page, draw their figures and write the page.

python -m reproduction                  # run what is missing in .reproduction; in all under half an hour on two cores
python -m reproduction --only noise     # run one section
python -m reproduction --page           # only write the page and the figures, from reproduction/results
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import cache
from typing import TYPE_CHECKING

from benchmarks.data import find_log
from reproduction.page import HERE, build_page
from reproduction.sections import SECTIONS
from reproduction.stored import read_results, store_results
from streams.errors import JudgestreamError
from streams.formats import read
from streams.lab.experiments import Log
from streams.lab.running.figures import draw_image
from streams.lab.running.runner import run

if TYPE_CHECKING:
    from reproduction.section import Section

ROOT = HERE.parent
WORK = ROOT / ".reproduction"


@cache
def log(file: str, campaigns: tuple[str, ...], shared_ties: bool) -> Log:
    try:
        path = find_log(file)
    except FileNotFoundError as error:
        raise JudgestreamError(str(error)) from None
    return Log.of((entry.judgment for entry in read(path, shared_ties=shared_ties)), file=file, only=campaigns)


def reproduce(section: Section, jobs: int) -> None:
    began = time.monotonic()

    def report(done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{section.name:20}{done:>8,} of {total:,} cells", end="\r", file=sys.stderr, flush=True)

    found = run(
        section.create_experiment(),
        log(section.file, section.campaigns, section.shared_ties),
        file=WORK / f"{section.name}.jsonl",
        jobs=jobs,
        progress=report,
    )
    print(f"{section.name:20}{len(found.results):>8,} cells in {time.monotonic() - began:.1f} s", file=sys.stderr)
    store_results(section.name, found)


def main() -> None:
    names = [section.name for section in SECTIONS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--page", action="store_true", help="only write the page and the figures; run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)")
    chosen = parser.parse_args()
    for section in SECTIONS:
        if chosen.only and section.name not in chosen.only:
            continue
        if not chosen.page:
            reproduce(section, chosen.jobs)
        if section.caption:
            drawn = draw_image(section.create_experiment(), read_results(section.name).results, suffix=".svg")
            (HERE / "figures" / f"{section.name}.svg").write_bytes(drawn)
    (HERE / "README.md").write_text(build_page())


if __name__ == "__main__":
    try:
        main()
    except JudgestreamError as error:
        sys.exit(f"Error: {error}")
