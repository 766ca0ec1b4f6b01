"""`judgestream baseline`: the system to compare all others with, from a log or from the scores of a metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.log_campaigns import logs_by_campaign
from streams.cli.log_options import LogFile, campaigns_option
from streams.cli.reading_options import ReadingOptions, reading_options
from streams.cli.terminal import format_number, print_table, refuse_combination, safe

if TYPE_CHECKING:
    from streams.offline.baselines import CampaignBaseline

_FILE = click.Path(path_type=Path, allow_dash=True)


@click.command(
    "baseline",
    epilog="""\b
Examples:
  judgestream baseline wmt13.csv.gz
  judgestream baseline --scores bleu.csv
  judgestream baseline wmt13.csv.gz --scores bleu.csv --json""",
)
@click.argument("file", type=_FILE, required=False)
@reading_options
@click.option("--scores", type=_FILE, metavar="FILE", help="CSV table of metric scores with columns system and score.")
@campaigns_option("choose a baseline for")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
@click.option("--csv", "as_table", is_flag=True, help="Print CSV, one row per candidate.")
def command(
    *,
    file: Path | None,
    options: ReadingOptions,
    scores: Path | None,
    campaigns: tuple[str, ...],
    as_object: bool,
    as_table: bool,
) -> None:
    """Choose the baseline system for the graded response model.

    FILE is a log in any format of `judgestream convert`. From a log, the baseline is the system whose comparisons have
    the most information about the other systems. Before the first judgment, use --scores: the baseline is the system
    whose metric score is closest to the mean of all systems. With both, the scores choose and the log adds the
    information of each candidate. See docs/models.md.
    """
    from msgspec.structs import astuple

    from streams.cli import outputs
    from streams.offline.baselines import BaselineCandidate, choose_campaign_baseline
    from streams.wire.events import encode

    refuse_combination(json=as_object, csv=as_table)
    if file is None and scores is None:
        raise click.UsageError("there is nothing to choose from; add a log, or --scores FILE")
    if file is None and (campaigns or options.only or options.since or options.until):
        raise click.UsageError(
            "--campaign, --only, --since and --until select a part of a log; add a log, or leave them out"
        )
    known = _read_scores(scores) if scores is not None else None
    if file is None:
        found = [choose_campaign_baseline(None, (), known, place=str(scores))]
    else:
        log = LogFile(file, options, default_campaign=campaigns[0] if len(campaigns) == 1 else None)
        logs = logs_by_campaign(log, only=campaigns)
        if known is not None and len(logs) > 1:
            raise click.UsageError(
                f"{file}: the log has {len(logs)} campaigns, but scores are of one; choose it with --campaign NAME"
            )
        found = [choose_campaign_baseline(name, logs[name], known, place=str(file)) for name in sorted(logs)]
    if as_object:
        click.echo(encode({"campaigns": found}))
    elif as_table:
        headings = ("campaign", "by", *BaselineCandidate.__struct_fields__)
        rows = [(one.campaign or "", one.by, *astuple(each)) for one in found for each in one.candidates]
        click.echo(outputs.as_csv(headings, rows), nl=False)
    else:
        for number, one in enumerate(found):
            if number:
                click.echo()
            _print(one)


def _read_scores(file: Path) -> dict[str, float]:
    """Read the table `system,score`. A system has one row."""
    from streams.errors import FormatError
    from streams.formats.named_columns import read_columns

    systems, scores = read_columns(file, ("system", "score"))
    values = scores.numbers()
    found: dict[str, float] = {}
    for line, system, score in zip(systems.lines, systems.texts(), values.tolist(), strict=True):
        if system in found:
            raise FormatError(f"{systems.file}:{line}: a second score of {system!r}; leave one row per system")
        found[system] = score
    return found


def _print(choice: CampaignBaseline) -> None:
    """Print the choice, the reason and the candidates, the best one first."""
    heading = f"{choice.campaign}  " if choice.campaign is not None else ""
    click.echo(safe(f"{heading}baseline: {choice.baseline}"))
    click.echo(safe(choice.reason))
    forms = {
        "wins": ".1%",
        "ties": ".1%",
        "losses": ".1%",
        "information": ".4f",
        "score": ".6g",
        "distance": ".6g",
    }
    shown = [name for name in forms if any(getattr(each, name) is not None for each in choice.candidates)]
    lines = [
        (each.system, *(format_number(getattr(each, name), forms[name]) for name in shown))
        for each in choice.candidates
    ]
    print_table(["system", *shown], lines, wrapped=["system"], right=shown)
