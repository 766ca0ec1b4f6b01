"""`judgestream agreement`: how well the judges of a log agree with each other and with themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.controls import controls_option, parse_controls
from streams.cli.log_campaigns import logs_by_campaign
from streams.cli.log_options import LogFile, campaigns_option, log_argument
from streams.cli.terminal import format_number, print_table, refuse_combination

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from streams.agreement.agreement_rows import AgreementRow, JudgeAgreementRow, Rule
    from streams.agreement.control_rows import ThresholdRow
    from streams.wire.events import Judgment

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "agreement",
    epilog="""\b
Examples:
  judgestream agreement wmt15.csv.gz
  judgestream agreement wmt13.csv.gz --judges --rule strict
  judgestream agreement wmt13.csv.gz --controls everybody --margin 2
  judgestream agreement wmt13.csv.gz --controls researcher --margin 0 --save-controls controls.csv
  judgestream agreement wmt15.csv.gz --csv
  judgestream agreement wmt15.csv.gz --plot agreement.svg""",
)
@log_argument
@campaigns_option("measure")
@click.option(
    "--rule",
    type=click.Choice(["wmt", "strict"]),
    default="wmt",
    show_default=True,
    help="Counting rule: as in the WMT findings, or strict (see docs/agreement.md).",
)
@click.option("--judges", "by_judge", is_flag=True, help="Print one row per judge as well.")
@controls_option
@click.option(
    "--save-controls",
    "controls_file",
    type=_FILE,
    metavar="FILE",
    help="CSV file for the controls, which --controls @FILE reads.",
)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
@click.option("--csv", "as_table", is_flag=True, help="Print CSV: agreement, or the table of --judges or --controls.")
@click.option("--plot", type=_FILE, metavar="FILE", help="File for a figure: .png, .svg or .pdf.")
def command(
    *,
    log: LogFile,
    campaigns: tuple[str, ...],
    rule: Rule,
    by_judge: bool,
    makers: str | None,
    margin: int,
    fewest: int,
    controls_file: Path | None,
    as_object: bool,
    as_table: bool,
    plot: Path | None,
) -> None:
    """Measure how well the judges of a log agree, with each other and with themselves.

    The measures are Cohen's and Fleiss' kappa and Krippendorff's alpha, and of scores Krippendorff's alpha only.

    FILE is a log in any format of `judgestream convert`. If systems share an output, there are two lines: one for the
    outputs as shown, and one expanded, in which these systems are tied. If judgments have a source, such as researcher
    or turker, there is a line for each source. See docs/agreement.md.
    """
    from streams.agreement.agreement_rows import AgreementRow, JudgeAgreementRow, agreement_rows, judge_rows
    from streams.agreement.control_rows import ControlItem, ThresholdRow, find_items, threshold_rows
    from streams.cli import outputs
    from streams.errors import ParameterError
    from streams.wire.events import encode

    refuse_combination(json=as_object, csv=as_table)
    if as_table and by_judge and makers:
        raise click.UsageError("--csv prints one table; add --judges or --controls, not both")
    outputs.check_suffix(plot, outputs.PICTURES, option="--plot")
    outputs.check_suffix(controls_file, (".csv",), option="--save-controls")
    if controls_file and not makers:
        raise click.UsageError("--save-controls needs --controls, for example --controls researcher")
    controls = parse_controls(makers, margin=margin, fewest=fewest) if makers else None
    shared = log.reading.shared = {}
    logs = logs_by_campaign(log, only=campaigns)
    if not any(judgment.ranks for found in logs.values() for judgment in found):
        refused = {"--judges": by_judge, "--controls": makers, "--plot": plot}
        if wrong := next((option for option, given in refused.items() if given), None):
            raise click.UsageError(f"{log.file}: {wrong} is for rankings, and the log has scores only; leave it out")
        _print_scores(logs, as_object=as_object, as_table=as_table)
        return
    _refuse_nameless(log)
    rows = agreement_rows(logs, shared, rule=rule)
    try:
        passed = threshold_rows(logs, shared, controls) if controls else []
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    judges = judge_rows(logs, shared, controls=controls) if by_judge else []
    if controls_file and controls:
        items = find_items(logs, shared, controls)
        outputs.write(controls_file, outputs.structs_as_csv(ControlItem, items).encode())
    if plot:
        from streams.agreement.agreement_figure import agreement_figure
        from streams.reports.canvas import figure_bytes

        outputs.write(plot, figure_bytes(agreement_figure(rows, judges, passed), suffix=plot.suffix.lower()))
    if as_object:
        more = ({"judges": judges} if by_judge else {}) | ({"thresholds": passed} if makers else {})
        click.echo(encode({"rule": rule, "agreement": rows, **more}))
    elif as_table:
        table = (JudgeAgreementRow, judges) if by_judge else (ThresholdRow, passed) if makers else (AgreementRow, rows)
        click.echo(outputs.structs_as_csv(*table), nl=False)
    else:
        _print_agreement(rows)
        if by_judge:
            click.echo()
            _print_judges(judges)
        if makers:
            click.echo()
            _print_thresholds(passed)


def _refuse_nameless(log: LogFile) -> None:
    """Raise FormatError if nothing can be compared, because no judgment names a judge or a segment."""
    from streams.errors import FormatError

    summary = log.reading.summary
    for name, missing in (("judge", summary.anonymous), ("segment", summary.unspecified)):
        if missing >= summary.judgments:
            raise FormatError(
                f"{log.file}: no judgment names a {name}, so there is nothing to compare; if a column has the {name}s, "
                f"name all columns: --columns a=COLUMN,b=COLUMN,winner=COLUMN,{name}=COLUMN"
            )


def _print_agreement(rows: Sequence[AgreementRow]) -> None:
    """Print inter and intra agreement side by side, and both forms of the outputs if they differ."""
    cells = {(row.campaign, row.judges, row.collapsed, row.kind): row for row in rows}
    lines = []
    for campaign, judges, whole, kind in cells:
        inter, intra = (cells[campaign, judges, whole, each] for each in ("inter", "intra"))
        twin = cells[campaign, judges, True, "inter"]
        if kind == "intra" or (not whole and twin.total == inter.total):
            continue
        shown = "as shown" if cells[campaign, judges, False, "inter"].total != inter.total or not whole else ""
        lines.append(
            (
                campaign or "all",
                judges or "all",
                "expanded" if not whole else shown,
                *(
                    text
                    for one in (inter, intra)
                    for text in (
                        format_number(one.kappa, ".3f"),
                        one.strength or "",
                        format_number(one.p_agree, ".1%"),
                        f"{one.comparable:,}",
                    )
                ),
                format_number(inter.fleiss_kappa, ".3f"),
                _with_bounds(inter.alpha, inter.alpha_low, inter.alpha_high),
                format_number(inter.ties / inter.total if inter.total else None, ".1%"),
            )
        )
    inter_headings, intra_headings = ["inter κ", "strength", "agree", "of"], ["intra κ", "strength ", "agree ", "of "]
    headings = ["campaign", "judges", "outputs", *inter_headings, *intra_headings, "Fleiss' κ", "α (95 %)", "ties"]
    right = [heading for heading in headings[3:] if heading.strip() != "strength"]
    print_table(*_without_empty_columns(headings, lines), wrapped=["campaign"], right=right)
    if any(row.kappa is None for row in rows):
        click.echo("- : there is nothing to compare", err=True)


def _with_bounds(value: float | None, low: float | None, high: float | None) -> str:
    bounds = "" if low is None or high is None else f" ({low:.3f} to {high:.3f})"
    return f"{format_number(value, '.3f')}{bounds}"


def _print_scores(logs: Mapping[str, Sequence[Judgment]], *, as_object: bool, as_table: bool) -> None:
    from streams.agreement.score_agreement import ScoreAgreementRow, score_agreement_rows
    from streams.cli import outputs
    from streams.wire.events import encode

    rows = score_agreement_rows(logs)
    if as_object:
        click.echo(encode({"score_agreement": rows}))
    elif as_table:
        click.echo(outputs.structs_as_csv(ScoreAgreementRow, rows), nl=False)
    else:
        headings = ["campaign", "level", "judges", "outputs", "compared", "α (95 %)"]
        lines = [
            (
                row.campaign,
                row.level,
                f"{row.judges:,}",
                f"{row.outputs:,}",
                f"{row.compared:,}",
                _with_bounds(row.alpha, row.alpha_low, row.alpha_high),
            )
            for row in rows
        ]
        print_table(headings, lines, wrapped=["campaign"], right=headings[2:])
        if any(row.alpha is None for row in rows):
            click.echo("- : there is nothing to compare", err=True)


def _print_judges(judges: Sequence[JudgeAgreementRow]) -> None:
    headings = ["campaign", "judge", "source", "comparisons", "inter κ", "of", "intra κ", "of ", "controls passed", ""]
    lines = [
        (
            row.campaign,
            row.judge,
            row.source or "",
            f"{row.comparisons:,}",
            format_number(row.inter_kappa, ".3f"),
            f"{row.inter_comparable:,}",
            format_number(row.intra_kappa, ".3f"),
            f"{row.intra_comparable:,}",
            "" if row.controls is None else f"{row.passed:,} of {row.controls:,}",
            "rejected" if row.rejected else "",
        )
        for row in judges
    ]
    print_table(*_without_empty_columns(headings, lines), wrapped=["campaign", "judge"], right=headings[3:9])


def _print_thresholds(rows: Sequence[ThresholdRow]) -> None:
    headings = ["campaign", "controls passed", "judges", "comparisons", "inter κ", "of"]
    lines = [
        (
            row.campaign,
            "all judges" if row.threshold is None else f"≥ {row.threshold:.0%}",
            f"{row.judges:,}",
            f"{row.comparisons:,}",
            format_number(row.kappa, ".3f"),
            f"{row.comparable:,}",
        )
        for row in rows
    ]
    print_table(headings, lines, wrapped=["campaign"], right=headings[2:])


def _without_empty_columns(
    headings: Sequence[str], lines: Sequence[Sequence[str]]
) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
    """Remove the columns that are empty for all rows."""
    kept = [k for k in range(len(headings)) if k < 1 or any(line[k] not in ("", "all") for line in lines)]
    return [headings[k] for k in kept], [[line[k] for k in kept] for line in lines]
