"""Run an experiment: measure the missing cells on several cores and save each result at once."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING

from streams.files import explaining_errors, replacing
from streams.lab.running.base import Cell, Result
from streams.lab.running.results import Results, ResultsHeader, cell_key, encode, encode_line, read_done

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
    """Measure every cell that the file does not hold yet, and return all results.

    `progress` is called with the number of cells done and the total. Each result is written to the file at once, so an
    interrupted run loses only the cells in progress. At the end, the file has the cells of this run first, in order,
    and then those of other options.
    """
    cells, head = experiment.cells(log), ResultsHeader.of(experiment, log)
    done = read_done(file, head) if file else {}
    before = len(done.keys() & {cell_key(cell) for cell in cells})
    missing = [cell for cell in cells if cell_key(cell) not in done]
    if progress:
        progress(before, len(cells))
    # A cell is measured by the experiment with its defaults, so that only the cell can matter.
    defaults = type(experiment)()
    with _open_results(file, Results(head=head, results=tuple(done.values()))) as write:
        for count, result in enumerate(_measure_all(defaults, log, missing, jobs), before + 1):
            done[cell_key(result.cell)] = result
            write(result)
            if progress:
                progress(count, len(cells))
    results = tuple(done.pop(cell_key(cell)) for cell in cells)
    if file:
        with replacing(file) as stream:
            stream.write(encode(Results(head=head, results=(*results, *done.values()))))
    return Results(head=head, results=results)


def _measure_all(experiment: Experiment, log: Log, cells: Sequence[Cell], jobs: int) -> Iterator[Result]:
    """Measure cells and yield each result when it is done."""
    if jobs < 2 or len(cells) < 2:
        for cell in cells:
            yield _measure(experiment, log, cell)
        return
    # Spawn, do not fork: a progress bar has a thread, and a fork of a process with threads may hang.
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
    """Prepare a worker process: keep the log, and leave interrupts to the parent."""
    global _here
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here = experiment, log


def _measure_here(cell: Cell) -> Result:
    assert _here
    return _measure(*_here, cell)


@contextmanager
def _open_results(file: Path | None, before: Results) -> Iterator[Callable[[Result], None]]:
    """Write the earlier results, and yield a function that appends a result to the file."""
    if file is None:
        yield lambda _: None
        return
    with explaining_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as fresh:
        fresh.write(encode(before))
    with file.open("ab") as stream:

        def write(result: Result) -> None:
            stream.write(encode_line(result))
            stream.flush()

        yield write
