"""A file of results: a head that says what they are of, then a line a cell, so that a run can be taken up again."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING, Any

import msgspec

from streams.errors import JudgestreamError
from streams.lab.running.base import Cell, Result, options_of
from streams.lab.running.log import LogSource  # noqa: TC001 - msgspec looks it up

if TYPE_CHECKING:
    from pathlib import Path

    from streams.lab.running.base import Experiment
    from streams.lab.running.log import Log

PACKAGES = ("judgestream", "numpy", "scipy", "numba", "msgspec")


class ResultsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """All that it takes to repeat the results, but the log itself."""

    experiment: str
    options: dict[str, Any]
    log: LogSource
    versions: dict[str, str]

    @classmethod
    def of(cls, experiment: Experiment, log: Log) -> ResultsHeader:
        """Describe a run here and now."""
        versions = {"python": python_version()} | {name: found for name in PACKAGES if (found := _version(name))}
        return cls(experiment=experiment.name, options=options_of(experiment), log=log.source, versions=versions)


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """Results, in the order of the experiment's cells, under their head."""

    head: ResultsHeader
    results: tuple[Result, ...]


def key(cell: Cell) -> bytes:
    """Give what tells a cell from all others of its experiment and log."""
    return msgspec.json.encode(cell, order="sorted")


def read(file: Path) -> Results | None:
    """Read what a run left; a last line that was cut off does not count, and a missing or empty file is None."""
    try:
        lines = file.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JudgestreamError(f"{file}: can't be read: {error.strerror or error}") from None
    if not lines:
        return None
    try:
        head = msgspec.json.decode(lines[0], type=ResultsHeader)
        return Results(head=head, results=tuple(msgspec.json.decode(line, type=Result) for line in lines[1:]))
    except msgspec.DecodeError as error:
        raise JudgestreamError(f"{file}: these are no results of an experiment ({error}); name another file") from None


def encoded(results: Results) -> bytes:
    """Write results as a file's content."""
    return line(results.head) + b"".join(map(line, results.results))


def line(part: ResultsHeader | Result) -> bytes:
    """Write one line."""
    return msgspec.json.encode(part) + b"\n"


def read_done(file: Path, head: ResultsHeader) -> dict[bytes, Result]:
    """Give the results in a file by their cells; those of another log or experiment are refused."""
    found = read(file)
    if found is None:
        return {}
    if found.head.experiment != head.experiment:
        raise JudgestreamError(
            f"{file}: holds results of {found.head.experiment!r}; name another file for {head.experiment!r}"
        )
    if found.head.log.sha256 != head.log.sha256:
        raise JudgestreamError(f"{file}: holds results on another log, {found.head.log.file}; name another file")
    return {key(result.cell): result for result in found.results}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
