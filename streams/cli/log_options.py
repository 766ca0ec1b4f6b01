"""The part that commands on a file of judgments share: options, reading and the progress bar."""

from __future__ import annotations

from copy import copy
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.progress import Bar
from streams.errors import FormatError, ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from streams.core.campaign.campaign import Campaign
    from streams.formats import Reading, RowError
    from streams.offline.rating import RatedLog
    from streams.wire.events import CampaignSettings, Judgment


LONG_BYTES = 8_000_000


def reading_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options for reading a log to a command."""
    options = (
        click.option("--from", "from_name", metavar="FORMAT", help="Format of the log.  [default: by its content]"),
        click.option(
            "--on-error",
            type=click.Choice(["stop", "skip", "report"]),
            default="stop",
            show_default=True,
            help="Action on a bad row: stop, skip and count it, or report and skip it.",
        ),
        click.option(
            "--shared-ties/--no-shared-ties",
            default=True,
            show_default=True,
            help="Tie systems that share one output, or do not compare them.",
        ),
        click.option(
            "--only",
            multiple=True,
            metavar="NAME=VALUE",
            help="Part to read, by judge, segment, source or system; =@FILE has one value per line; may be repeated.",
        ),
        click.option(
            "--since",
            metavar="TIME|NUMBER",
            help="First time to read, as ISO date or time, UTC without a zone; or the judgments to leave out first.",
        ),
        click.option(
            "--until",
            metavar="TIME|NUMBER",
            help="Last time to read, inclusive; a date is its end in UTC. Or the number of judgments to read.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


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
    def run(
        *,
        file: Path,
        from_name: str | None,
        on_error: str,
        shared_ties: bool,
        only: tuple[str, ...],
        since: str | None,
        until: str | None,
        **more: object,
    ) -> None:
        log = LogFile(
            file, from_name=from_name, on_error=on_error, shared_ties=shared_ties, only=only, since=since, until=until
        )
        function(log=log, **more)

    argument = click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
    decorated: Callable[..., None] = argument(reading_options(run))
    return decorated


class LogFile:
    """A file of judgments that is read in batches. Skipped rows are reported at the end."""

    def __init__(
        self,
        file: Path,
        *,
        from_name: str | None = None,
        on_error: str = "stop",
        shared_ties: bool = True,
        campaign: str | None = None,
        only: Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
        stream: BinaryIO | None = None,
    ) -> None:
        from streams.formats import read

        self.file = file
        self.size = file.stat().st_size if file.is_file() else None
        self.first_bad: RowError | None = None
        self._quiet = False
        self._without: Collection[tuple[str, str]] = ()
        self._report = on_error == "report"
        try:
            self.reading: Reading = read(
                stream or file,
                format=from_name,
                campaign=campaign,
                on_error="stop" if on_error == "stop" else self._record_bad_row,
                shared_ties=shared_ties,
                only=_parse_only(only),
                since=since,
                until=until,
            )
        except ParameterError as error:
            raise click.UsageError(str(error)) from None

    def _record_bad_row(self, error: RowError) -> None:
        self.first_bad = self.first_bad or error
        if self._report:
            click.echo(str(error), err=True)

    @property
    def is_long(self) -> bool:
        """Return whether the file is long enough for compiled kernels to pay off."""
        return self.size is not None and self.size > LONG_BYTES

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
                bar.describe(describe(len(judgments)) if describe else str(self.file))
                bar.complete(self.reading.position)
                yield judgments

    def again(self, *, without: Collection[tuple[str, str]] = ()) -> LogFile:
        """Return the log to read it once more without messages. `without` has campaigns and judges to leave out."""
        if not self.file.is_file():
            raise click.UsageError(f"{self.file} can be read only once, and this needs it twice; save it in a file")
        other = copy(self)
        other._quiet, other._without = True, without
        return other

    def judgments(self, *, columns: bool = False) -> Iterator[Sequence[Judgment]]:
        """Read the file without a progress bar."""
        without = self._without
        try:
            for batch in self.reading.batches(columns=columns and not without):
                if without:
                    yield [each for each in batch.judgments if (each.campaign, each.judge) not in without]
                else:
                    yield batch.judgments
        except ParameterError as error:  # nothing is selected
            raise click.UsageError(f"{self.file}: {error}") from None

    def report_skipped(self) -> None:
        """Report skipped rows and the size of the selected part. Raise FormatError if there was no judgment."""
        summary = self.reading.summary
        if not summary.judgments:
            reason = f"; the first error: {self.first_bad}" if self.first_bad else ""
            raise FormatError(f"{self.file}: the file has no judgment{reason}")
        if bad := summary.skipped.total():
            self.report(f"{bad:,} of {summary.rows:,} rows were skipped; the first error: {self.first_bad}")
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


def logs_by_campaign(log: LogFile, *, only: Sequence[str]) -> dict[str, list[Judgment]]:
    """Read a whole file and return its judgments by campaign, without duplicates. `only` selects campaigns."""
    logs: dict[str, dict[str, Judgment]] = {}
    read = 0
    for batch in log.batches():
        read += len(batch)
        for judgment in batch:
            logs.setdefault(judgment.campaign, {}).setdefault(judgment.id, judgment)
    if duplicates := read - sum(map(len, logs.values())):
        _report_duplicates(log, duplicates, read)
    for name in only:
        if name not in logs:
            raise click.UsageError(f"{log.file}: no campaign {name!r} in the log; {suggestion(name, logs)}")
    return {name: list(found.values()) for name, found in logs.items() if not only or name in only}


def _report_duplicates(log: LogFile, duplicates: int, read: int) -> None:
    log.report(f"{duplicates:,} of {read:,} judgments are duplicates and were ignored")


def rate_log(
    log: LogFile,
    settings: CampaignSettings,
    *,
    only: Sequence[str],
    observe: Callable[[Campaign], None] | None = None,
    batches: Iterable[Sequence[Judgment]] | None = None,
    campaign_type: type[Campaign] | None = None,
    judge_key: str = "",
) -> RatedLog:
    """Rate the campaigns of a file. Report duplicates and rejections. Raise FormatError if nothing was rated.

    `batches` are those of the file if a caller has begun to read it. `campaign_type` is that of a plan.
    """
    from streams.core import kernels
    from streams.core.campaign.campaign import Campaign
    from streams.offline.rating import rate

    if log.is_long:
        kernels.compiled("pairs")  # compile first, so that the first batch is fast too
    try:
        rated = rate(
            batches or log.batches(columns=log.is_long),
            settings,
            only=only,
            observe=observe,
            campaign_type=campaign_type or Campaign,
            judge_key=judge_key,
        )
    except ParameterError as error:
        raise click.UsageError(f"{log.file}: {error}") from None
    duplicates = sum(campaign.counts.duplicates for campaign in rated.campaigns.values())
    if duplicates:
        _report_duplicates(log, duplicates, rated.read)
    rated.check(str(log.file))
    if rated.rejections:
        first = rated.first_rejection
        log.report(f"{rated.rejections:,} of {rated.read:,} judgments were rejected; the first: {first}")
    for name in rated.unrated:
        log.report(f"nothing of the campaign {name!r} was rated; rank it alone with --campaign")
    return rated
