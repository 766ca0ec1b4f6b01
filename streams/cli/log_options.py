"""What all commands that read a file of judgments share: its options, its reading, and the bar meanwhile."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.progress import Bar
from streams.errors import FormatError, ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streams.core.campaign.campaign import Campaign
    from streams.formats import Reading, RowError
    from streams.offline.rating import RatedLog
    from streams.wire.events import CampaignSettings, Judgment


LONG_BYTES = 8_000_000


def reading_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of how a log is read."""
    options = (
        click.option("--from", "from_name", metavar="FORMAT", help="What the log is in; by default its content tells."),
        click.option(
            "--on-error",
            type=click.Choice(["stop", "skip", "report"]),
            default="stop",
            show_default=True,
            help="At a bad row: stop, leave it out and count it, or print it too.",
        ),
        click.option(
            "--shared-ties/--no-shared-ties",
            default=True,
            show_default=True,
            help="Whether systems that shared one output are tied, or not compared.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def log_argument(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command its FILE as a LogFile, `log`, with the options of how it is read."""

    @wraps(function)
    def run(*, file: Path, from_name: str | None, on_error: str, shared_ties: bool, **more: object) -> None:
        function(log=LogFile(file, from_name=from_name, on_error=on_error, shared_ties=shared_ties), **more)

    argument = click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
    decorated: Callable[..., None] = argument(reading_options(run))
    return decorated


class LogFile:
    """A file of judgments that is read once, batch by batch; what was left out is said at the end."""

    def __init__(
        self,
        file: Path,
        *,
        from_name: str | None = None,
        on_error: str = "stop",
        shared_ties: bool = True,
        campaign: str | None = None,
    ) -> None:
        from streams.formats import read

        self.file = file
        self.size = file.stat().st_size if file.is_file() else None
        self.first_bad: RowError | None = None
        self._aloud = on_error == "report"
        try:
            self.reading: Reading = read(
                file,
                format=from_name,
                campaign=campaign,
                on_error="stop" if on_error == "stop" else self._take,
                shared_ties=shared_ties,
            )
        except ParameterError as error:
            raise click.UsageError(str(error)) from None

    def _take(self, error: RowError) -> None:
        self.first_bad = self.first_bad or error
        if self._aloud:
            click.echo(str(error), err=True)

    @property
    def is_long(self) -> bool:
        """Say whether it repays the loading of compiled kernels."""
        return self.size is not None and self.size > LONG_BYTES

    def batches(self, *, columns: bool = False) -> Iterator[Sequence[Judgment]]:
        """Read it, with a bar; FormatError if there is no judgment in it. Columns are for one who rates them."""
        yield from self.read(columns=columns)
        self.conclude()

    def read(self, tell: Callable[[int], str] | None = None, *, columns: bool = False) -> Iterator[Sequence[Judgment]]:
        """Read it, with a bar that names the file, or says what `tell` makes of the judgments in each batch."""
        with Bar(total=self.size) as bar:
            for batch in self.reading.batches(columns=columns):
                bar.describe(tell(len(batch.judgments)) if tell else str(self.file))
                bar.complete(self.reading.position)
                yield batch.judgments

    def conclude(self) -> None:
        """Say what was left out; FormatError if there was no judgment."""
        summary = self.reading.summary
        if not summary.judgments:
            reason = f"; the first bad row: {self.first_bad}" if self.first_bad else ""
            raise FormatError(f"{self.file}: there is no judgment in it{reason}")
        if bad := summary.skipped.total():
            click.echo(
                f"{self.file}: {bad:,} of {summary.rows:,} rows were left out; the first: {self.first_bad}", err=True
            )


def logs_by_campaign(log: LogFile, *, only: Sequence[str]) -> dict[str, list[Judgment]]:
    """Read a file whole, its campaigns apart: all or only some; what stands there twice counts once."""
    logs: dict[str, dict[str, Judgment]] = {}
    read = 0
    for batch in log.batches():
        read += len(batch)
        for judgment in batch:
            logs.setdefault(judgment.campaign, {}).setdefault(judgment.id, judgment)
    if duplicates := read - sum(map(len, logs.values())):
        _tell_duplicates(log, duplicates, read)
    for name in only:
        if name not in logs:
            raise click.UsageError(f"{log.file}: no campaign {name!r} in the log; {suggestion(name, logs)}")
    return {name: list(found.values()) for name, found in logs.items() if not only or name in only}


def _tell_duplicates(log: LogFile, duplicates: int, read: int) -> None:
    click.echo(f"{log.file}: {duplicates:,} of {read:,} judgments stand there twice, and count once", err=True)


def rate_log(
    log: LogFile,
    settings: CampaignSettings,
    *,
    only: Sequence[str],
    observe: Callable[[Campaign], None] | None = None,
) -> RatedLog:
    """Rate a file's campaigns, and say what did not count."""
    from streams.core import kernels
    from streams.offline.rating import rate

    if log.is_long:
        kernels.compiled("pairs")  # it will be wanted, so the beginning need not go the slow way
    try:
        rated = rate(log.batches(columns=log.is_long), settings, only=only, observe=observe)
    except ParameterError as error:
        raise click.UsageError(f"{log.file}: {error}") from None
    duplicates = sum(campaign.counts.duplicates for campaign in rated.campaigns.values())
    if duplicates:
        _tell_duplicates(log, duplicates, rated.read)
    if rated.rejections:
        first = rated.first_rejection
        click.echo(f"{log.file}: {rated.rejections:,} of {rated.read:,} rejected; the first: {first}", err=True)
    return rated
