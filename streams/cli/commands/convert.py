"""`judgestream convert`: a log from one format to another."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from streams.cli.log_options import LogFile
from streams.cli.options import with_settings
from streams.cli.reading_options import ReadingOptions, reading_options
from streams.errors import FormatError, ParameterError
from streams.files import explaining_errors, replacing
from streams.formats import FORMATS, STDIN, SUFFIXES, compressing, find_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats import Format, Reading
    from streams.settings import Settings

STDOUT = STDIN
_READ = "\n".join(f"  {name:14}{found.about}" for name, found in FORMATS.items())
_WRITE = ", ".join(name for name, found in FORMATS.items() if found.write)


@click.command(
    "convert",
    epilog=f"""\b
Formats (written: {_WRITE}):
{_READ}

\b
Examples:
  judgestream convert wmt13.fr-en.csv.gz wmt13.jsonl
  judgestream convert battles.json battles.csv.gz --campaign arena --on-error report
  zcat log.xml.gz | judgestream convert - - --to jsonl --no-shared-ties""",
)
@click.argument("sources", metavar="FROM...", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.argument("target", metavar="TO", type=click.Path(path_type=Path, allow_dash=True))
@reading_options
@click.option("--to", "to_name", metavar="FORMAT", help="Format to write.  [default: by the suffix of TO]")
@click.option("--campaign", metavar="NAME", help="Campaign name to write.  [default: as in FROM]")
@click.option(
    "--pseudonyms", is_flag=True, help="Write the judges as pseudonyms, made with the setting judge_key as in Kafka."
)
@click.option("--force", is_flag=True, help="Overwrite TO if it exists.")
@click.option("--json", "as_object", is_flag=True, help="Print the summary as one JSON object.")
@with_settings()
def command(
    settings: Settings,
    *,
    sources: tuple[Path, ...],
    target: Path,
    options: ReadingOptions,
    to_name: str | None,
    campaign: str | None,
    pseudonyms: bool,
    force: bool,
    as_object: bool,
) -> None:
    """Convert a log of judgments from one format to another.

    FROM is one or more files or folders, or `-` for standard input. A file may be compressed (gzip, zstd, bzip2, xz,
    zip) or an Excel file (xlsx). Any other table is read with --columns. TO is compressed if its name ends in .gz or
    .zst, and `-` is standard output. TO is written completely or not at all.
    """
    from streams.core.campaign.pseudonyms import Pseudonyms

    if pseudonyms and not settings.judge_key:
        raise click.UsageError("--pseudonyms needs the key of the workers; set JUDGESTREAM_JUDGE_KEY")
    made = Pseudonyms(settings.judge_key.encode())
    written = _find_target_format(target, to_name)
    log = LogFile(sources, options, campaign=campaign)
    with _open_target(target, force=force) as stream:
        assert written.write
        with compressing(stream, target) as out:
            judgments = chain.from_iterable(log.read())
            written.write(out, map(made.replace_judge, judgments) if pseudonyms else judgments)
        summary = log.reading.summary
        if log.first_bad and not summary.judgments:
            raise FormatError(
                f"{log.file}: none of its {summary.rows:,} rows is a judgment; the first error: {log.first_bad}"
            )
    _print_summary(log.reading, log.file, target, written, as_object=as_object)


def _find_target_format(target: Path, name: str | None) -> Format:
    """Find the format to write, by its name or by the suffix of the file."""
    if name is None:
        plain = target.with_suffix("") if target.suffix in SUFFIXES else target
        for found in FORMATS.values():
            if plain.suffix in found.suffixes:
                return found
        known = ", ".join(suffix for found in FORMATS.values() for suffix in found.suffixes)
        raise click.UsageError(f"{target} has none of the suffixes {known}; choose the format with --to: {_WRITE}")
    try:
        found = find_format(name)
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    if not found.write:
        raise click.UsageError(f"the format {name!r} can be read but not written; choose one of: {_WRITE}")
    return found


@contextmanager
def _open_target(target: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open standard output, a pipe or device, or a new file that replaces the target at the end."""
    if str(target) == STDOUT:
        yield click.get_binary_stream("stdout")
        return
    place = target.resolve()
    if place.exists() and not place.is_file():  # a pipe or a device can't be replaced
        with explaining_errors(target), place.open("wb") as stream:
            yield stream
        return
    _refuse_to_overwrite(target, force=force)
    with replacing(place) as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
        _refuse_to_overwrite(target, force=force)


def _refuse_to_overwrite(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise click.UsageError(f"{target} exists already; add --force to overwrite it")


def _print_summary(reading: Reading, source: str, target: Path, written: Format, *, as_object: bool) -> None:
    import msgspec

    summary, found = reading.summary, reading.format
    assert found
    if as_object:
        account: dict[str, object] = {
            "from": source,
            "format": found.name,
            "to": str(target),
            "written": written.name,
        }
        account |= msgspec.to_builtins(summary)
        if reading.selection:
            account["kept"] = reading.selection.kept
        click.echo(msgspec.json.encode(account).decode(), err=str(target) == STDOUT)
        return
    parts = [f"{summary.rows:,} rows of {found.name}", f"{summary.judgments:,} judgments"]
    if reading.selection:
        parts.append(f"{reading.selection.kept:,} kept by {reading.selection.options}")
    if summary.unranked:
        parts.append(f"{summary.unranked:,} outputs without a rank")
    for what, counts in (("skipped", summary.skipped), ("left out", summary.left_out)):
        parts += [f"{count:,} {what}: {reason}" for reason, count in sorted(counts.items())]
    parts += summary.warnings()
    click.echo("; ".join(parts), err=True)
