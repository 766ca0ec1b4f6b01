"""`judgestream clusters`: the official WMT ranking of a log, and what all commands that rank a file share."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from rich.progress import Progress

    from streams.events import Leaderboard, Row
    from streams.ranking.counts import Log

PATIENCE = 1.0  # seconds, before a bar appears
WIDEST = 120
WMT = "wmt"


def ranking_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the file and the options of all commands that rank one."""
    options = (
        click.argument("file", type=click.Path(path_type=Path)),
        click.option(
            "--campaign",
            "campaigns",
            multiple=True,
            metavar="NAME",
            help="Only this one, e.g. wmt15.de-en; may be given more than once.",
        ),
        click.option(
            "--runs", type=click.IntRange(3, 1_000_000), default=1000, show_default=True, help="Samples of the ranks."
        ),
        click.option(
            "--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Same seed, same result."
        ),
        click.option("--json", "as_object", is_flag=True, help="Print one JSON object."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command(
    "clusters",
    epilog="""\b
Examples:
  judgestream clusters wmt15.csv.gz --no-resample
  judgestream clusters wmt15.csv.gz --campaign wmt15.de-en --json""",
)
@ranking_options
@click.option(
    "--resample/--no-resample",
    default=True,
    show_default=True,
    help="Draw the comparisons anew for each run, as WMT16 did, or not, as WMT15.",
)
def command(*, file: Path, campaigns: tuple[str, ...], runs: int, seed: int, as_object: bool, resample: bool) -> None:
    """Rank the systems of a log by the official WMT procedure, and rule off the clusters.

    FILE is a uniform ranking CSV, plain or gzip. The score is the mean of TrueSkill's mu over the runs, the deviation
    its standard deviation; a rank range leaves out 2.5 % of the runs at both ends.
    """
    logs = read_logs(file, campaigns)
    show(rank_wmt(logs, runs=runs, seed=seed, resample=resample), as_object=as_object)


def read_logs(file: Path, campaigns: Sequence[str]) -> Mapping[str, Log]:
    """Read a file's judgments, by campaign."""
    from streams.errors import FormatError, ParameterError
    from streams.formats import uniform
    from streams.ranking import by_campaign

    try:
        logs = by_campaign((entry.judgment for entry in uniform.read(file)), only=campaigns)
    except ParameterError as error:
        raise click.UsageError(f"{file}: {error}") from None
    if not logs:
        raise FormatError(f"{file}: there is no ranking in it")
    return logs


def rank_wmt(logs: Mapping[str, Log], *, runs: int, seed: int, resample: bool) -> list[Leaderboard]:
    """Rank each campaign by the official procedure, on all cores."""
    from streams.ranking import PairCounts, stand

    counts = {name: PairCounts.of(judgment for _, judgment in log) for name, log in logs.items()}
    boards = []
    with Bar(total=runs * sum(found.comparisons for found in counts.values())) as bar:
        for name, found in counts.items():
            bar.describe(name)
            standing = stand(
                WMT,
                found,
                runs=runs,
                seed=seed,
                resample=resample,
                threads=os.cpu_count() or 1,
                progress=bar.advance,
            )
            boards.append(board(name, WMT, logs[name], standing.rows(found.systems, found.judgments.tolist())))
    return boards


def board(name: str, model: str, log: Log, rows: tuple[Row, ...]) -> Leaderboard:
    """Make the leaderboard of a campaign's whole log: the rankings of it count, the place in the file is the offset."""
    from streams.events import Leaderboard

    return Leaderboard(campaign=name, model=model, sequence=len(log), offset=log[-1][0], judgments=len(log), rows=rows)


def show(boards: Sequence[Leaderboard], *, as_object: bool) -> None:
    """Print leaderboards for a program, or for people."""
    from streams.cli import render

    if as_object:
        click.echo(render.as_json(boards))
        return
    console = render.stdout_console()
    for number, found in enumerate(boards):
        clusters = found.rows[-1].cluster if found.rows else 0
        title = (
            f"{found.campaign}  {found.model}, {found.judgments:,} rankings, {clusters} cluster{'s' * (clusters != 1)}"
        )
        if number:
            console.print()
        console.print(title, markup=False)
        console.print(render.LeaderboardTable(leaderboard=found, width=min(console.width, WIDEST)))


class Bar:
    """A progress bar on standard error, if that is a terminal and the work takes longer than a second."""

    def __init__(self, *, total: int) -> None:
        self._total = total
        self._done = 0
        self._name = ""
        self._start = time.monotonic()
        self._progress: Progress | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress:
            self._progress.stop()

    def describe(self, name: str) -> None:
        """Name what is being done."""
        self._name = name

    def advance(self, steps: int) -> None:
        """Add steps that are done."""
        self._done += steps
        if self._progress is None and time.monotonic() - self._start > PATIENCE:
            self._progress = _progress()
            self._progress.add_task(self._name, total=self._total)
            self._progress.start()
        if self._progress:
            self._progress.update(self._progress.task_ids[0], completed=self._done, description=self._name)


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
