"""A file of results: a header, then one line per cell, so that an interrupted run can continue."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING, Any

import msgspec

from streams.errors import JudgestreamError
from streams.lab.running.base import Cell, Result, options_of
from streams.lab.running.log import LogSource  # noqa: TC001 - msgspec reads the annotation

if TYPE_CHECKING:
    from pathlib import Path

    from streams.lab.running.base import Experiment
    from streams.lab.running.log import Log

PACKAGES = ("judgestream", "numpy", "scipy", "numba", "msgspec")


class ResultsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is needed to repeat the results, except the log itself."""

    experiment: str
    options: dict[str, Any]
    log: LogSource
    versions: dict[str, str]

    @classmethod
    def of(cls, experiment: Experiment, log: Log) -> ResultsHeader:
        """Return the header of a run with the versions in use."""
        versions = {"python": python_version()} | {name: found for name in PACKAGES if (found := _version(name))}
        return cls(experiment=experiment.name, options=options_of(experiment), log=log.source, versions=versions)


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """Results in the order of the experiment's cells, with their header."""

    head: ResultsHeader
    results: tuple[Result, ...]


def cell_key(cell: Cell) -> bytes:
    """Return the key that identifies a cell within its experiment and log."""
    return msgspec.json.encode(cell, order="sorted")


def read(file: Path) -> Results | None:
    """Read a results file. An incomplete last line is ignored. A missing or empty file is None."""
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
        raise JudgestreamError(f"{file}: not a results file of an experiment ({error}); choose another file") from None


def encode(results: Results) -> bytes:
    """Return results as the content of a file."""
    return encode_line(results.head) + b"".join(map(encode_line, results.results))


def encode_line(part: ResultsHeader | Result) -> bytes:
    """Return one line of a results file."""
    return msgspec.json.encode(part) + b"\n"


def read_done(file: Path, head: ResultsHeader) -> dict[bytes, Result]:
    """Return the results in a file by cell key, or raise an error if they are of another log or experiment."""
    found = read(file)
    if found is None:
        return {}
    if found.head.experiment != head.experiment:
        raise JudgestreamError(
            f"{file}: has results of {found.head.experiment!r}; choose another file for {head.experiment!r}"
        )
    if found.head.log.sha256 != head.log.sha256:
        raise JudgestreamError(f"{file}: has results on another log, {found.head.log.file}; choose another file")
    return {cell_key(result.cell): result for result in found.results}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
