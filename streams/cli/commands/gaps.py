"""`judgestream gaps`: lists records that were deleted from the log before they were read, and accepts their loss."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from streams.cli.options import with_settings
from streams.cli.terminal import confirm, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.settings import Settings
    from streams.stores import Store
    from streams.stores.gaps import Gap

PLACE = re.compile(r"(?P<partition>.+/\d+):(?P<start>\d+)-(?P<end>\d+)", re.ASCII)


@click.command(
    "gaps",
    epilog="""\b
Examples:
  judgestream gaps
  judgestream gaps --accept judgments.v1/0:1000-25000""",
)
@click.option("--accept", "place", metavar="PARTITION:START-END", help="Gap to go on without, as in the list.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_settings("kafka", "redis", "namespace", "partitions")
def command(settings: Settings, *, place: str | None, as_json: bool, yes: bool) -> None:
    """List records that were deleted from the log before they were read, or accept their loss.

    A partition stops at such a gap. Once you accept the gap, its worker goes on after it by itself. The gap stays
    listed, and its offsets stay counted as missing. The exit code is 1 if a gap is not accepted.
    """
    from streams.cli.log_partitions import name_partitions
    from streams.cli.stored_campaign import open_store

    with open_store(settings) as store:
        if place is not None:
            _accept(store, place, yes=yes)
            return
        gaps = [(name, gap) for name in name_partitions(settings) for gap in store.read_gaps(name)]
    _print(gaps, as_json=as_json)
    if any(gap.accepted is None for _, gap in gaps):
        raise click.exceptions.Exit(1)


def _accept(store: Store, place: str, *, yes: bool) -> None:
    match = PLACE.fullmatch(place)
    if match is None:
        raise click.UsageError(
            f"--accept is {place!r}; it must be like judgments.v1/0:1000-25000, see: judgestream gaps"
        )
    partition, start, end = match["partition"], int(match["start"]), int(match["end"])
    unknown = click.ClickException(f"{place} is not a gap at which a partition is stopped; see: judgestream gaps")
    if (start, end) not in {(gap.start, gap.end) for gap in store.read_gaps(partition)}:
        raise unknown
    confirm(
        f"Go on without the records of {partition} from offset {start} to {end - 1}? Their judgments are lost, "
        "and the ratings are computed without them. If there is a backup of the topic, bring it back instead.",
        yes=yes,
    )
    if not store.accept_gap(partition, start, end):
        raise unknown  # more records were deleted while this command waited for the answer
    click.echo(f"Accepted. The worker of {partition} goes on at offset {end} within a few seconds.")


def _print(found: Sequence[tuple[str, Gap]], *, as_json: bool) -> None:
    if as_json:
        import msgspec

        from streams.wire.events import encode

        rows = [
            {"partition": partition, "missing": gap.missing, **msgspec.to_builtins(gap)} for partition, gap in found
        ]
        click.echo(encode({"gaps": rows}))
    elif not found:
        click.echo("No records were deleted before they were read.")
    else:
        print_table(
            ("gap", "offsets", "found", "accepted"),
            (
                (
                    f"{partition}:{gap.field}",
                    f"{gap.missing:,}",
                    f"{gap.found:%Y-%m-%d %H:%M:%SZ}",
                    f"{gap.accepted:%Y-%m-%d %H:%M:%SZ}" if gap.accepted else "no, the partition is stopped",
                )
                for partition, gap in found
            ),
            wrapped=[],
            right=["offsets"],
        )
