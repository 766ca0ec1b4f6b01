"""The options --history and --every: the boards of a log over time, as a table in a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streams.cli.outputs import as_csv, check_suffix, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.cli.log_options import LogFile
    from streams.cli.scale import ScoreUnit
    from streams.offline.history import HistoryRow
    from streams.offline.planning import RankingPlan
    from streams.wire.events import Leaderboard

SUFFIXES = (".csv", ".parquet")
NEVER = 2**62  # records


@dataclass(frozen=True)
class HistoryFile:
    """A file for the boards of a log over time, and the number of judgments between two moments, if it is given."""

    file: Path
    every: int | None

    def check(self, log: LogFile) -> None:
        """Raise an error if the file can't be written, or if the log can't be read twice."""
        from streams.reports.parquet_table import require_pyarrow

        check_suffix(self.file, SUFFIXES, option="--history")
        if self._is_parquet:
            require_pyarrow(str(self.file))
        log.again()

    def write(
        self,
        log: LogFile,
        plan: RankingPlan,
        boards: Sequence[Leaderboard],
        *,
        unit: ScoreUnit,
        seed: int,
        judge_key: str,
    ) -> None:
        """Read the log once more and write the history of these boards, which are those of the whole log."""
        from streams.offline.history import BoardHistory, moment_step

        steps = {board.campaign: self.every or moment_step(board.sequence) for board in boards}
        history = BoardHistory(
            plan, lambda name: steps.get(name, NEVER), finish=unit.convert, seed=seed, threads=os.cpu_count() or 1
        )
        history.rate(log.again().read(), only=tuple(steps), judge_key=judge_key)
        if history.left_out:
            log.report(f"{history.left_out:,} moments are not in the history; the first: {history.first_error}")
        write(self.file, self._encode(history.rows))

    @property
    def _is_parquet(self) -> bool:
        return self.file.suffix.lower() == ".parquet"

    def _encode(self, rows: Sequence[HistoryRow]) -> bytes:
        import msgspec

        from streams.offline.history import HistoryRow
        from streams.reports.parquet_table import parquet_bytes

        if self._is_parquet:
            return parquet_bytes(HistoryRow, rows)
        cells = (msgspec.to_builtins(row).values() for row in rows)  # a time as in JSON
        return as_csv(HistoryRow.__struct_fields__, map(tuple, cells)).encode()


def history_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add --history and --every to a command, which gets the HistoryFile `history`, or None."""

    @wraps(function)
    def run(*arguments: Any, history: Path | None, every: int | None, **more: Any) -> None:
        if every is not None and history is None:
            raise click.UsageError("--every needs --history FILE")
        function(*arguments, history=None if history is None else HistoryFile(history, every), **more)

    options = (
        click.option(
            "--history",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="File for the boards over time, one row per system and moment: .csv or .parquet.",
        ),
        click.option(
            "--every",
            type=click.IntRange(min=1),
            metavar="NUMBER",
            help="Judgments of a campaign between two moments of --history.  [default: for about 100 moments]",
        ),
    )
    for option in reversed(options):
        run = option(run)
    return run
