"""`judgestream bench`: how fast this machine rates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from streams.bench.figures import BenchResults

JUDGMENTS, QUICK_JUDGMENTS = 1_000_000, 100_000
NAMES = ("embedded", "peers", "files")


@click.command(
    "bench",
    epilog="""\b
Examples:
  judgestream bench
  judgestream bench --quick --only embedded --only peers
  judgestream bench --json > bench.json""",
)
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="Benchmark to run; can be repeated.")
@click.option(
    "--judgments",
    type=click.IntRange(min=100, max=100_000_000),
    help=f"Number of judgments.  [default: {JUDGMENTS:,}, with --quick {QUICK_JUDGMENTS:,}]",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1, max=1000),
    default=3,
    show_default=True,
    help="Number of runs. The median counts.",
)
@click.option("--quick", is_flag=True, help="Fewer judgments: less exact, and faster.")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object, with the value of each run.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File for the same JSON object.",
)
def command(
    *, only: tuple[str, ...], judgments: int | None, repeats: int, quick: bool, as_object: bool, output: Path | None
) -> None:
    """Measure how fast this machine rates judgments. No server is needed.

    embedded rates a log in this process, with everything that a worker does except Kafka and Redis. peers compares
    one rating update with the packages trueskill, openskill, evalica and choix, if they are installed (pip install
    'judgestream[bench]'). A slow package gets a prefix of the comparisons. files runs `judgestream rank` on JSON Lines
    and on CSV, and evalica on the same CSV.

    Each benchmark runs once to warm up, then --repeats times. The table has the median, the lowest and the highest
    value. docs/performance.md has the figures of a worker with its servers.
    """
    from streams.bench.figures import BenchResults
    from streams.bench.suite import SECTIONS, run_section
    from streams.files import replacing

    count = judgments or (QUICK_JUDGMENTS if quick else JUDGMENTS)
    sections = {}
    for name in only or NAMES:
        click.echo(f"{name}: {count:,} judgments, {repeats} run{'s' * (repeats > 1)} ...", err=True)
        sections[name] = run_section(lambda name=name: SECTIONS[name](count, repeats=repeats), quick=quick)  # type: ignore[misc]
    results = BenchResults(sections=sections)
    if output:
        with replacing(output) as stream:
            stream.write(results.encode())
    if as_object:
        click.echo(results.encode(), nl=False)
    else:
        _print(results)


def _print(results: BenchResults) -> None:
    """Print a table for each benchmark, below the machine."""
    from streams.bench.tables import HEADINGS, rows
    from streams.cli.terminal import print_table

    click.echo(next(iter(results.sections.values())).machine.describe())
    for name, section in results.sections.items():
        click.echo()
        body = [[cell.replace("*", "") for cell in row] for row in rows(section.figures)]
        print_table((name, *HEADINGS[1:]), body, wrapped=(name,), right=(HEADINGS[1],))
