"""Runs an experiment: what is missing of it, on several cores, each result written down as it comes."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING

from streams.files import explaining_errors, replacing
from streams.lab.running.base import Cell, Result
from streams.lab.running.results import Results, ResultsHeader, encoded, key, line, read_done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from streams.lab.running.base import Experiment
    from streams.lab.running.log import Log


def run(
    experiment: Experiment,
    log: Log,
    *,
    file: Path | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Measure every cell that the file does not hold yet, and give all; `progress` gets cells done and cells in all.

    Each result is in the file as soon as it is there, so that a run that ends early loses nothing but what was on the
    way. In the end this run's cells stand first in the file, in their order, and then those of other options.
    """
    cells, head = experiment.cells(log), ResultsHeader.of(experiment, log)
    done = read_done(file, head) if file else {}
    before = len(done.keys() & {key(cell) for cell in cells})
    missing = [cell for cell in cells if key(cell) not in done]
    if progress:
        progress(before, len(cells))
    # A cell is measured by the experiment with its defaults, so that only the cell can matter.
    defaults = type(experiment)()
    with _written(file, Results(head=head, results=tuple(done.values()))) as write:
        for count, result in enumerate(_measured(defaults, log, missing, jobs), before + 1):
            done[key(result.cell)] = result
            write(result)
            if progress:
                progress(count, len(cells))
    results = tuple(done.pop(key(cell)) for cell in cells)
    if file:
        with replacing(file) as stream:
            stream.write(encoded(Results(head=head, results=(*results, *done.values()))))
    return Results(head=head, results=results)


def _measured(experiment: Experiment, log: Log, cells: Sequence[Cell], jobs: int) -> Iterator[Result]:
    """Measure cells, and give each when it is done."""
    if jobs < 2 or len(cells) < 2:
        for cell in cells:
            yield _measure(experiment, log, cell)
        return
    # Spawned, not forked: a progress bar has a thread, and a fork of a process with threads may hang.
    pool = ProcessPoolExecutor(min(jobs, len(cells)), get_context("spawn"), _start, (experiment, log))
    try:
        for future in as_completed([pool.submit(_measure_here, cell) for cell in cells]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _measure(experiment: Experiment, log: Log, cell: Cell) -> Result:
    return Result(cell, experiment.measure(log, cell))


_here: tuple[Experiment, Log] | None = None


def _start(experiment: Experiment, log: Log) -> None:
    """Get a process ready: it keeps the log, and leaves an interrupt to the one that started it."""
    global _here
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here = experiment, log


def _measure_here(cell: Cell) -> Result:
    assert _here
    return _measure(*_here, cell)


@contextmanager
def _written(file: Path | None, before: Results) -> Iterator[Callable[[Result], None]]:
    """Give what writes a result to the end of the file, after what was there before."""
    if file is None:
        yield lambda _: None
        return
    with explaining_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as fresh:
        fresh.write(encoded(before))
    with file.open("ab") as stream:

        def write(result: Result) -> None:
            stream.write(line(result))
            stream.flush()

        yield write
