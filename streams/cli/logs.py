"""What all commands that read a file of judgments share: its options, its reading, and the bar meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.progress import Bar
from streams.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streams.campaign import Campaign
    from streams.events import CampaignSettings, Judgment
    from streams.formats import Reading, RowError
    from streams.offline import Rated


LONG_BYTES = 8_000_000


def log_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the file, and the options of how it is read."""
    options = (
        click.argument("file", type=click.Path(path_type=Path, allow_dash=True)),
        click.option("--from", "from_name", metavar="FORMAT", help="What FILE is in; by default its content tells."),
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


class LogFile:
    """A file of judgments that is read once, batch by batch; what was left out is said at the end."""

    def __init__(self, file: Path, *, from_name: str | None, on_error: str, shared_ties: bool) -> None:
        from streams.formats import read

        self.file = file
        self._aloud = on_error == "report"
        self._first: RowError | None = None
        try:
            self.reading: Reading = read(
                file,
                format=from_name,
                on_error="stop" if on_error == "stop" else self._take,
                shared_ties=shared_ties,
            )
        except ParameterError as error:
            raise click.UsageError(str(error)) from None

    def _take(self, error: RowError) -> None:
        self._first = self._first or error
        if self._aloud:
            click.echo(str(error), err=True)

    def batches(self) -> Iterator[Sequence[Judgment]]:
        """Read it, with a bar; FormatError if there is no judgment in it."""
        size = self.file.stat().st_size if self.file.is_file() else None
        if size is not None and size > LONG_BYTES:
            from streams import kernels

            kernels.compiled("pairs")  # it will be wanted, so the beginning need not go the slow way
        with Bar(total=size) as bar:
            bar.describe(str(self.file))
            for batch in self.reading.batches():
                yield batch.judgments
                bar.complete(self.reading.position)
        self.conclude()

    def conclude(self) -> None:
        """Say what was left out; FormatError if there was no judgment."""
        summary = self.reading.summary
        if not summary.judgments:
            reason = f"; the first bad row: {self._first}" if self._first else ""
            raise FormatError(f"{self.file}: there is no judgment in it{reason}")
        if bad := summary.skipped.total():
            click.echo(
                f"{self.file}: {bad:,} of {summary.rows:,} rows were left out; the first: {self._first}", err=True
            )


def rate_log(
    log: LogFile,
    settings: CampaignSettings,
    *,
    only: Sequence[str],
    observe: Callable[[Campaign], None] | None = None,
) -> Rated:
    """Rate a file's campaigns, and say what did not count."""
    from streams.offline import rate

    try:
        rated = rate(log.batches(), settings, only=only, observe=observe)
    except ParameterError as error:
        raise click.UsageError(f"{log.file}: {error}") from None
    duplicates = sum(campaign.counts.duplicates for campaign in rated.campaigns.values())
    if duplicates:
        click.echo(
            f"{log.file}: {duplicates:,} of {rated.read:,} judgments stand there twice, and count once", err=True
        )
    if rated.rejections:
        first = rated.first_rejection
        click.echo(f"{log.file}: {rated.rejections:,} of {rated.read:,} rejected; the first: {first}", err=True)
    return rated
