"""The part that commands on a file of judgments share: options, reading and the progress bar."""

from __future__ import annotations

import sys
from copy import copy
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.progress import Bar
from streams.cli.reading_options import ReadingOptions, propose_command, reading_options
from streams.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import BinaryIO

    from streams.formats import EntryBatch, Reading, RowError
    from streams.wire.events import Judgment


LONG_BYTES = 8_000_000  # of a log for which kernels are compiled
SHORT_BYTES = 100_000  # of a log for which they are not even loaded
STDIN = "-"


def campaigns_option(purpose: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option --campaign of a command that reads a log. `purpose` is what it does to a campaign."""
    return click.option(
        "--campaign",
        "campaigns",
        multiple=True,
        metavar="NAME",
        help=f"Campaign to {purpose}; may be repeated.  [default: all]",
    )


def log_argument(function: Callable[..., None]) -> Callable[..., None]:
    """Add FILE and the options for reading it to a command, which gets the LogFile `log`."""

    @wraps(function)
    def run(*, files: tuple[Path, ...], options: ReadingOptions, **more: object) -> None:
        name = _only_name(more.get("campaigns", more.get("names")))
        # Standard input can't be read twice to learn its campaigns, so `replay` renames all of it.
        renamed = name if "names" in more and STDIN in map(str, files) else None
        function(log=LogFile(files, options, campaign=renamed, default_campaign=name), **more)

    argument = click.argument(
        "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True)
    )
    decorated: Callable[..., None] = argument(reading_options(run))
    return decorated


def _only_name(campaigns: object) -> str | None:
    """Return the campaign of --campaign if there is one: a log that names no campaign gets this name."""
    only = campaigns[0] if isinstance(campaigns, tuple) and len(campaigns) == 1 else ""
    return only if only and "=" not in only else None


class LogFile:
    """A log of judgments that is read in batches: one or more files or folders. Skipped rows are reported at the end.

    `file` is its name, for messages.
    """

    def __init__(
        self,
        files: Path | Sequence[Path],
        options: ReadingOptions | None = None,
        *,
        campaign: str | None = None,
        default_campaign: str | None = None,
        stream: BinaryIO | None = None,
    ) -> None:
        from streams.formats import describe_log, list_parts, read

        options = options or ReadingOptions()
        self.files = [files] if isinstance(files, Path) else list(files)
        self.file = describe_log(self.files)
        self.can_be_read_again = all(file.is_file() or file.is_dir() for file in self.files)
        self.is_renamed = campaign is not None
        self.first_bad: RowError | None = None
        self._quiet = False
        self._begun: Iterator[EntryBatch] | None = None
        self.without: Collection[tuple[str, str]] = ()
        self._report = options.on_error == "report"
        try:
            self.reading: Reading = read(
                stream or self.files,
                format=options.from_name,
                columns=options.columns or None,
                values=options.values,
                encoding=options.encoding,
                campaign=campaign,
                default_campaign=default_campaign,
                on_error="stop" if options.on_error == "stop" else self._record_bad_row,
                shared_ties=options.shared_ties,
                references=options.references,
                only=_parse_only(options.only),
                since=options.since,
                until=options.until,
            )
        except ParameterError as error:
            raise click.UsageError(str(error)) from None
        parts = list_parts(self.files) if self.can_be_read_again else []
        self.size = sum(part.size for part in parts) if parts else None

    def _record_bad_row(self, error: RowError) -> None:
        self.first_bad = self.first_bad or error
        if self._report:
            click.echo(str(error), err=True)

    @cached_property
    def is_long(self) -> bool:
        """Return whether the file is long enough for compiled kernels to pay off. It is shorter if they are stored."""
        if self.size is None or self.size <= SHORT_BYTES:
            return False
        return self.size > LONG_BYTES or self._has_kernels

    @cached_property
    def _has_kernels(self) -> bool:
        from streams.wire.scanner.kernels import are_stored

        return are_stored(for_lines=all(".json" in file.name for file in self.files))

    def announce_compiling(self) -> None:
        """Print once on a terminal that kernels will be compiled, if they are not stored."""
        if self.is_long and not self._has_kernels and sys.stderr.isatty():
            click.echo("Compiling loops for long files, once. This takes about half a minute.", err=True)
            self._has_kernels = True

    def begin(self) -> None:
        """Begin to read a long file as columns, in a thread. The caller imports what it needs next."""
        from streams.formats.ahead import begin

        if self.is_long and not self.without:
            self.announce_compiling()
            self._begun = begin(self.reading.batches(columns=True))

    def batches(self, *, columns: bool = False) -> Iterator[Sequence[Judgment]]:
        """Read the file with a progress bar. Raise FormatError if it has no judgment. `columns` is for rating."""
        yield from self.read(columns=columns)
        self.report_skipped()

    def read(
        self, describe: Callable[[int], str] | None = None, *, columns: bool = False
    ) -> Iterator[Sequence[Judgment]]:
        """Read the file with a progress bar. Its text is the file name, or `describe` of the size of each batch."""
        with Bar(total=self.size) as bar:
            for judgments in self.judgments(columns=columns):
                bar.describe(describe(len(judgments)) if describe else self.file)
                bar.complete(self.reading.position)
                yield judgments

    def again(self, *, without: Collection[tuple[str, str]] = ()) -> LogFile:
        """Return the log to read it once more without messages. `without` has campaigns and judges to leave out."""
        if not self.can_be_read_again:
            raise click.UsageError(f"{self.file} can be read only once, and this needs it twice; save it in a file")
        other = copy(self)
        other._quiet, other.without = True, without
        return other

    def judgments(self, *, columns: bool = False) -> Iterator[Sequence[Judgment]]:
        """Read the file without a progress bar."""
        from streams.formats import RowError, UnknownFormat

        without, batches, self._begun = self.without, self._begun, None
        if columns:
            self.announce_compiling()
        try:
            for batch in batches or self.reading.batches(columns=columns and not without):
                if without:
                    yield [each for each in batch.judgments if (each.campaign, each.judge) not in without]
                else:
                    yield batch.judgments
        except ParameterError as error:  # nothing is selected
            raise click.UsageError(f"{self.file}: {error}") from None
        except RowError as error:
            message = f"{error}. To go on without bad rows, add --on-error skip or report"
            if error.mapping is None:
                raise FormatError(message) from None
            raise propose_command(UnknownFormat(message, mapping=error.mapping), self.files) from None
        except UnknownFormat as error:
            raise propose_command(error, self.files) if error.options else error from None

    def report_skipped(self) -> None:
        """Report skipped rows and the size of the selected part. Raise FormatError if there was no judgment."""
        summary = self.reading.summary
        if not summary.judgments:
            left_out = ", ".join(summary.left_out)
            reason = f"; rows were left out: {left_out}" if left_out else ""
            reason += f"; the first error: {self.first_bad} (skipped by --on-error)" if self.first_bad else ""
            raise FormatError(f"{self.file}: the file has no judgment{reason}")
        if bad := summary.skipped.total():
            self.report(
                f"{bad:,} of {summary.rows:,} rows were skipped by --on-error; the first error: {self.first_bad}"
            )
        if summary.left_out:
            kinds = "; ".join(f"{kind}: {number:,}" for kind, number in summary.left_out.most_common())
            self.report(f"{summary.left_out.total():,} of {summary.rows:,} rows were left out ({kinds})")
        for warning in summary.warnings():
            self.report(warning)
        if part := self.reading.selection:
            untimed = f"; {part.untimed:,} without a time were left out" if part.untimed else ""
            self.report(f"{part.kept:,} of {part.read:,} judgments were kept by {part.options}{untimed}")

    def report(self, text: str) -> None:
        """Print a line about the file on standard error, unless it is read once more."""
        if not self._quiet:
            click.echo(f"{self.file}: {text}", err=True)


def _parse_only(given: Sequence[str]) -> dict[str, list[str]]:
    """Read NAME=VALUE and NAME=@FILE. Values of the same name are collected."""
    from streams.cli.campaign_settings import parse_pairs, read_names

    values: dict[str, list[str]] = {}
    for name, text in parse_pairs(given, option="--only") if given else ():
        values.setdefault(name, []).extend(read_names(text[1:]) if text.startswith("@") else [text])
    return values
