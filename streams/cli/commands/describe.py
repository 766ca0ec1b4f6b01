"""`judgestream describe`: how much data a log has, by campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.log_campaigns import logs_by_campaign
from streams.cli.log_options import LogFile, campaigns_option, log_argument
from streams.cli.terminal import print_table, refuse_combination

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.offline.description import CampaignDescription


@click.command(
    "describe",
    epilog="""\b
Examples:
  judgestream describe wmt13.csv.gz
  judgestream describe wmt15.csv.gz --csv
  judgestream describe wmt15.csv.gz --campaign wmt15.de-en --json""",
)
@log_argument
@campaigns_option("describe")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
@click.option("--csv", "as_table", is_flag=True, help="Print CSV, one row per campaign.")
def command(*, log: LogFile, campaigns: tuple[str, ...], as_object: bool, as_table: bool) -> None:
    """Count systems, rankings and judges of each campaign of a log, as in Table 2 of the WMT13 findings.

    FILE is a log in any format of `judgestream convert`. A ranking of five systems has ten comparisons. The average is
    the number of comparisons without ties per system. With several campaigns there is a line of totals.
    """
    from streams.cli import outputs
    from streams.offline.description import CampaignDescription, describe_log
    from streams.wire.events import encode

    refuse_combination(json=as_object, csv=as_table)
    rows = describe_log(logs_by_campaign(log, only=campaigns))
    if as_object:
        each = [row for row in rows if row.campaign is not None]
        click.echo(encode({"campaigns": each, "total": rows[-1] if len(rows) > 1 else None}))
    elif as_table:
        click.echo(outputs.structs_as_csv(CampaignDescription, rows), nl=False)
    else:
        _print(rows)


def _print(rows: Sequence[CampaignDescription]) -> None:
    counts = {
        "systems": "systems",
        "judges": "judges",
        "segments": "segments",
        "rankings": "rankings",
        "comparisons": "comparisons",
        "ties": "ties",
        "decided": "without ties",
        "scores": "scores",
    }
    shown = {name: heading for name, heading in counts.items() if any(getattr(row, name) for row in rows)}
    averages = ["average"] if "decided" in shown else []
    lines = [
        (
            row.campaign or "total",
            *(f"{getattr(row, name):,}" for name in shown),
            *(f"{row.average:,.2f}" for _ in averages),
        )
        for row in rows
    ]
    headings = ["campaign", *shown.values(), *averages]
    print_table(headings, lines, wrapped=["campaign"], right=headings[1:])
