"""`judgestream head-to-head`: every pair of systems of a log, with sign tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from streams.cli.log_campaigns import rate_log
from streams.cli.log_options import LogFile, log_argument
from streams.cli.ranking import rank_campaigns, ranking_options
from streams.cli.terminal import format_number, print_table, refuse_combination, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.agreement.head_to_head import Correction
    from streams.agreement.head_to_head_rows import CampaignHeadToHead

MODEL, ENGINE = "expected-wins", "bootstrap"  # as in the findings of WMT13
CELL = 6  # characters of a column of the matrix
LEAST_NAME = 12
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "head-to-head",
    epilog="""\b
Examples:
  judgestream head-to-head wmt13.csv.gz
  judgestream head-to-head wmt13.csv.gz --list
  judgestream head-to-head wmt15.csv.gz --campaign wmt15.de-en --markdown
  judgestream head-to-head wmt13.csv.gz --plot table25.svg""",
)
@log_argument
@ranking_options
@click.option(
    "--sides",
    type=click.Choice(["1", "2"]),
    default="1",
    show_default=True,
    help="Sides of the sign test. The WMT findings use one.",
)
@click.option(
    "--correction",
    type=click.Choice(["none", "holm", "bh"]),
    default="none",
    show_default=True,
    help="Correction of p for many pairs: Holm, or bh (Benjamini and Hochberg).",
)
@click.option("--list", "as_list", is_flag=True, help="Print one line per pair, with wins, ties, losses and p.")
@click.option("--csv", "as_table", is_flag=True, help="Print CSV, one row per pair.")
@click.option("--markdown", "as_text", is_flag=True, help="Print Markdown, one table per campaign.")
@click.option("--plot", type=_FILE, metavar="FILE", help="File for a heat map, one per campaign: .png, .svg or .pdf.")
def command(
    *,
    log: LogFile,
    campaigns: tuple[str, ...],
    runs: int | None,
    seed: int,
    as_object: bool,
    sides: Literal["1", "2"],
    correction: Correction,
    as_list: bool,
    as_table: bool,
    as_text: bool,
    plot: Path | None,
) -> None:
    """Compare every pair of systems of a log, as in the tables of the WMT13 findings.

    A cell is the share of judgments that prefer the system of the row to the system of the column, without ties. The
    stars are from a sign test: ⋆ is p ≤ 0.10, † is p ≤ 0.05 and ‡ is p ≤ 0.01. Many pairs have some stars by chance:
    --correction takes this into account. Systems are ordered by Expected Wins, with rank ranges by bootstrap. If the
    table is too wide, and with --list, there is one line per pair.
    """
    from streams.agreement.head_to_head_rows import CampaignHeadToHead, HeadToHeadPair
    from streams.cli import outputs
    from streams.offline.planning import plan_ranking
    from streams.wire.events import encode

    refuse_combination(json=as_object, csv=as_table, markdown=as_text)
    outputs.check_suffix(plot, outputs.PICTURES, option="--plot")
    plan = plan_ranking(MODEL, ranges=ENGINE, runs=runs)
    rated = rate_log(log, plan.settings, only=campaigns)
    found = [
        CampaignHeadToHead.of(
            board,
            rated.campaigns[board.campaign].tables.pair_counts(),
            sides=1 if sides == "1" else 2,
            correction=correction,
        )
        for board in rank_campaigns(rated, plan, seed=seed)
    ]
    if plot:
        _write_plots(plot, found)
    if as_object:
        campaigns_found = [
            {"campaign": one.leaderboard.campaign, "rows": one.leaderboard.rows, "pairs": one.pairs} for one in found
        ]
        click.echo(encode({"sides": int(sides), "correction": correction, "campaigns": campaigns_found}))
    elif as_table:
        click.echo(outputs.structs_as_csv(HeadToHeadPair, [pair for one in found for pair in one.pairs]), nl=False)
    elif as_text:
        click.echo("\n".join(map(_as_markdown, found)), nl=False)
    else:
        for number, one in enumerate(found):
            if number:
                click.echo()
            _print(one, as_list=as_list)


def _write_plots(file: Path, found: Sequence[CampaignHeadToHead]) -> None:
    from streams.agreement.head_to_head_figure import head_to_head_figure
    from streams.cli import outputs
    from streams.reports.canvas import figure_bytes

    for one in found:
        name = f"{file.stem}.{one.leaderboard.campaign}{file.suffix}" if len(found) > 1 else file.name
        outputs.write(file.with_name(name), figure_bytes(head_to_head_figure(one), suffix=file.suffix.lower()))


def _print(found: CampaignHeadToHead, *, as_list: bool) -> None:
    from streams.agreement.head_to_head import STARS
    from streams.cli.render import stdout_console, table_width

    console, board = stdout_console(), found.leaderboard
    decided = sum(pair.wins + pair.losses for pair in found.pairs)
    comparisons = f"{decided:,} comparison{'s' * (decided != 1)} without ties"
    console.print(f"{board.campaign}  {len(board.rows)} systems, {comparisons}", markup=False)
    if as_list or 4 + LEAST_NAME + CELL * len(board.rows) > table_width(console):
        _print_list(found)
    else:
        _print_matrix(found, table_width(console))
        console.print("row preferred to column, ties ignored", markup=False, style="dim")
    stars = ", ".join(f"{star} p ≤ {level:.2f}" for level, star in reversed(STARS))
    console.print(f"{stars}: {found.table.about_test}", markup=False, style="dim")


def _print_list(found: CampaignHeadToHead) -> None:
    from streams.agreement.head_to_head import format_p
    from streams.reports.report import short_names

    short = short_names(found.table.systems)
    headings = ("system", "opponent", "wins", "ties", "losses", "win rate", "", "p")
    lines = (
        (
            short[pair.system],
            short[pair.opponent],
            f"{pair.wins:,}",
            f"{pair.ties:,}",
            f"{pair.losses:,}",
            format_number(pair.win_rate, ".2f"),
            pair.star,
            format_p(pair.p),
        )
        for pair in found.pairs
    )
    print_table(headings, lines, wrapped=["system", "opponent"], right=[*headings[2:6], "p"])


def _print_matrix(found: CampaignHeadToHead, width: int) -> None:
    """Print a matrix. A cell is blue if the system of the row wins. A rule separates clusters."""
    from rich.text import Text

    from streams.cli.render import CLUSTER_COLOURS, rank_range, stdout_console
    from streams.reports.report import short_names

    rows, table, console = found.leaderboard.rows, found.table, stdout_console()
    short = short_names(table.systems)
    room = min(max(len(safe(name)) for name in ("score", *short.values())), width - 4 - CELL * len(rows))
    rule = Text("─" * (room + 4 + CELL * len(rows)), "dim")
    console.print(Text(" " * (room + 4) + "".join(f"{k:>{CELL - 1}} " for k in range(1, len(rows) + 1)), "dim"))
    for i, row in enumerate(rows):
        if i and row.cluster != rows[i - 1].cluster:
            console.print(rule)
        label = Text(safe(short[row.system]), "bold")
        label.truncate(room, overflow="ellipsis", pad=True)
        line = Text.assemble((f"{i + 1:>2}  ", "dim"), label)
        for j in range(len(rows)):
            share = table.shares[i, j]
            style = "dim" if share != share else CLUSTER_COLOURS[0 if share >= 0.5 else 1]
            line.append(f"{table.cell(i, j).removesuffix(table.star(i, j)):>{CELL - 1}}", style=style)
            line.append(table.star(i, j) or " ", style=style)
        console.print(line)
    console.print(rule)
    scores = [f"{row.score:.2f}".removeprefix("0") for row in rows]
    ranges = [rank_range(row.rank_low, row.rank_high) for row in rows]
    for name, cells in (("score", scores), ("rank", ranges)):
        console.print(Text.assemble("    ", name.ljust(room), "".join(f"{cell:>{CELL - 1}} " for cell in cells)))


def _as_markdown(found: CampaignHeadToHead) -> str:
    from streams.cli.outputs import escape_markdown
    from streams.reports.report import short_names
    from streams.reports.score_axis import rank_range

    rows, table = found.leaderboard.rows, found.table
    short = {system: escape_markdown(name) for system, name in short_names(table.systems).items()}
    numbers = range(len(rows))
    lines = [
        f"### {escape_markdown(found.leaderboard.campaign)}\n",
        f"| | | {' | '.join(str(k + 1) for k in numbers)} |",
        f"|---:|---|{'---:|' * len(rows)}",
        *(
            f"| {i + 1} | {short[row.system]} | {' | '.join(table.cell(i, j) for j in numbers)} |"
            for i, row in enumerate(rows)
        ),
        f"| | score | {' | '.join(f'{row.score:.3f}'.removeprefix('0') for row in rows)} |",
        f"| | rank | {' | '.join(rank_range(row.rank_low, row.rank_high) for row in rows)} |",
    ]
    about = f"Row preferred to column, ties ignored. Stars: {table.about_test}."
    return "\n".join([*lines, "", about]) + "\n"
