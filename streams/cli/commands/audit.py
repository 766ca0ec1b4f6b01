"""`judgestream audit`: the ratings of a log by both engines of TrueSkill, compared."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from streams.cli.log_options import LogFile, campaigns_option, log_argument
from streams.cli.progress import Bar
from streams.cli.ranking import parse_parameters
from streams.cli.terminal import print_table
from streams.errors import FormatError, ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from streams.offline.audit import Audit, AuditRow
    from streams.wire.events import Judgment

CHUNK = 1000  # judgments between two steps of the progress bar


@click.command(
    "audit",
    epilog="""\b
Examples:
  judgestream audit samples/arena.csv
  judgestream audit wmt13.csv.gz --judgments 1000 --parameter ways=free-for-all
  judgestream audit wmt15.csv.gz --campaign wmt15.de-en --judgments 500 --json""",
)
@log_argument
@campaigns_option("audit")
@click.option("--judgments", "limit", type=click.IntRange(1), help="Number of judgments to rate, from the first one.")
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of TrueSkill, e.g. ways=free-for-all; may be repeated.",
)
@click.option("--budget", type=click.IntRange(1), help="Planned number of judgments. The profile wmt needs it.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0.0),
    default=1e-6,
    show_default=True,
    help="Largest difference of a mean or a deviation that passes.",
)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
def command(
    *,
    log: LogFile,
    campaigns: tuple[str, ...],
    limit: int | None,
    parameters: tuple[str, ...],
    budget: int | None,
    tolerance: float,
    as_object: bool,
) -> None:
    """Rate a log with both engines of TrueSkill, and compare the ratings and the times.

    FILE is a log of rankings in any format of `judgestream convert`. The engine `compiled` is the default of all
    campaigns; `package` is the trueskill package. The package is slow: --judgments rates only the beginning of a long
    log. The exit code is 1 if a mean or a deviation differs by more than --tolerance.
    """
    from streams.offline.audit import Audit
    from streams.offline.planning import DEFAULT_MODEL
    from streams.wire.events import encode

    try:
        audit = Audit(parse_parameters(DEFAULT_MODEL, parameters), budget=budget)
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    known: dict[str, None] = {}
    for part in _chunks(log, campaigns, limit, known):
        audit.apply(part)
    log.report_skipped()
    for name in campaigns:
        if name not in known:
            raise click.UsageError(f"{log.file}: no campaign {name!r} in the log; {suggestion(name, known)}")
    rows = audit.rows()
    _check(log, audit, rows)
    passed = all(row.difference <= tolerance for row in rows)
    compiled, package = sum(row.compiled_seconds for row in rows), sum(row.package_seconds for row in rows)
    ratio = package / compiled if compiled else None
    if as_object:
        click.echo(encode({"tolerance": tolerance, "passed": passed, "ratio": ratio, "campaigns": rows}))
    else:
        _print(rows)
        times = f"the compiled engine took {compiled:.3f} s, the package {package:.3f} s"
        click.echo(f"\n{times}" + (f": {ratio:,.0f} times as long" if ratio else ""))
        verdict = "within" if passed else "more than"
        largest = max(row.difference for row in rows)
        click.echo(f"the largest difference is {largest:.1e}, {verdict} the tolerance of {tolerance:g}")
    sys.exit(0 if passed else 1)


def _chunks(
    log: LogFile, campaigns: Collection[str], limit: int | None, known: dict[str, None]
) -> Iterator[Sequence[Judgment]]:
    """Read the judgments of some campaigns in small parts, with a progress bar. Add all campaigns to `known`."""
    left, before = limit, 0
    with Bar(total=limit or log.size) as bar:
        bar.describe(log.file)
        for batch in log.judgments():
            known |= dict.fromkeys(judgment.campaign for judgment in batch)
            judgments = [each for each in batch if not campaigns or each.campaign in campaigns][:left]
            for start in range(0, len(judgments), CHUNK):
                part = judgments[start : start + CHUNK]
                yield part
                share = (start + len(part)) / len(judgments)
                bar.complete(before + int(share * (log.reading.position - before)) if limit is None else before + start)
            before = log.reading.position if limit is None else before + len(judgments)
            if left is not None:
                left -= len(judgments)
                if not left:
                    return


def _check(log: LogFile, audit: Audit, rows: Sequence[AuditRow]) -> None:
    """Report rejected judgments. Raise FormatError if nothing was rated."""
    if not rows:
        raise FormatError(
            f"{log.file}: TrueSkill rated none of {audit.read:,} judgments; the first was rejected: "
            f"{audit.first_rejection}. An audit needs a log of rankings"
        )
    if audit.rejections:
        click.echo(
            f"{log.file}: {audit.rejections:,} of {audit.read:,} judgments were rejected; "
            f"the first: {audit.first_rejection}",
            err=True,
        )


def _print(rows: Sequence[AuditRow]) -> None:
    headings = ["campaign", "judgments", "matches", "failed", "mean differs by", "of", "deviation differs by", "of "]
    lines = [
        (
            row.campaign,
            f"{row.judgments:,}",
            f"{row.matches:,}",
            f"{row.failed:,}",
            f"{row.mean_difference:.1e}",
            row.mean_system,
            f"{row.deviation_difference:.1e}",
            row.deviation_system,
        )
        for row in rows
    ]
    print_table(headings, lines, wrapped=["campaign"], right=[*headings[1:5], headings[6]])
