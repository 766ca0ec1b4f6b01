"""`judgestream measure`: predictions against gold values, in two columns of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streams.cli.terminal import format_number, print_table, refuse_combination
from streams.errors import FormatError

if TYPE_CHECKING:
    from streams.formats.named_columns import NamedColumn

FEWEST = 4  # rows for DeltaAvg: two quantiles of two rows each


@click.command(
    "measure",
    epilog="""\b
Examples:
  judgestream measure predictions.csv --predicted hter --gold gold
  judgestream measure predictions.csv --predicted hter --gold gold --lower-is-better
  judgestream measure words.tsv --predicted label --gold gold --labels --json""",
)
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--predicted", required=True, metavar="COLUMN", help="Column of the predictions.")
@click.option("--gold", required=True, metavar="COLUMN", help="Column of the true values or labels.")
@click.option("--labels", is_flag=True, help="Compare labels by F1. Without it, compare numbers.")
@click.option(
    "--lower-is-better",
    is_flag=True,
    help="For DeltaAvg, a low prediction ranks first and a low gold value is good, e.g. an error rate.",
)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
def command(*, file: Path, predicted: str, gold: str, labels: bool, lower_is_better: bool, as_object: bool) -> None:
    """Measure predictions against gold values, as in the quality estimation task of the WMT13 findings.

    FILE is a CSV or TSV table with a header. For numbers: mean absolute error (MAE), root mean squared error (RMSE),
    DeltaAvg, and the correlations of Pearson and Spearman. With --labels: precision, recall and F1 of each class, and
    macro- and micro-averaged F1. See docs/lab.md.
    """
    from streams.formats.named_columns import read_columns
    from streams.wire.events import encode

    refuse_combination(**{"labels": labels, "lower-is-better": lower_is_better})
    columns = read_columns(file, (predicted, gold))
    if labels:
        found, classes = _measure_labels(*columns)
    else:
        found, classes = _measure_numbers(*columns, lower_is_better=lower_is_better), []
    about = {"file": str(file), "predicted": predicted, "gold": gold, "rows": len(columns[0].cells)}
    if as_object:
        click.echo(encode(about | found | ({"classes": classes} if labels else {})))
        return
    click.echo(f"{file}: {predicted} against {gold}, {about['rows']:,} rows")
    names = {
        "mae": "MAE",
        "rmse": "RMSE",
        "delta_avg": "DeltaAvg",
        "pearson": "Pearson's r",
        "spearman": "Spearman's ρ",
        "macro_f1": "macro F1",
        "micro_f1": "micro F1",
        "accuracy": "accuracy",
    }
    lines = [(names[name], format_number(value, ".4f")) for name, value in found.items()]
    print_table(["measure", "value"], lines, wrapped=(), right=["value"])
    if any(value is None for value in found.values()):
        click.echo("- : one of the two columns does not vary", err=True)
    if classes:
        click.echo()
        headings = ["label", "precision", "recall", "F1", "gold", "predicted"]
        rows = [
            (
                one.label,
                *(f"{value:.4f}" for value in (one.precision, one.recall, one.f1)),
                f"{one.true_positives + one.false_negatives:,}",
                f"{one.true_positives + one.false_positives:,}",
            )
            for one in classes
        ]
        print_table(headings, rows, wrapped=["label"], right=headings[1:])


def _measure_numbers(predicted: NamedColumn, gold: NamedColumn, *, lower_is_better: bool) -> dict[str, float | None]:
    from math import isnan

    from streams.lab.measures.correlation import pearson, spearman
    from streams.lab.measures.delta_avg import delta_avg
    from streams.lab.measures.errors import mean_absolute_error, root_mean_squared_error

    otherwise = "correct it, or add --labels to compare labels by F1"
    guessed, true = predicted.numbers(otherwise=otherwise), gold.numbers(otherwise=otherwise)
    _check_rows(predicted, FEWEST, "numbers")
    sign = -1.0 if lower_is_better else 1.0
    found = {
        "mae": mean_absolute_error(guessed, true),
        "rmse": root_mean_squared_error(guessed, true),
        "delta_avg": delta_avg(sign * guessed, sign * true),
        "pearson": pearson(guessed, true),
        "spearman": spearman(guessed, true),
    }
    return {name: None if isnan(value) else value for name, value in found.items()}


def _measure_labels(predicted: NamedColumn, gold: NamedColumn) -> tuple[dict[str, float | None], list[Any]]:
    from streams.lab.measures.classes import label_scores

    _check_rows(predicted, 1, "labels")
    found = label_scores(predicted.texts(), gold.texts())
    averages: dict[str, float | None] = {
        "macro_f1": found.macro_f1,
        "micro_f1": found.micro_f1,
        "accuracy": found.accuracy,
    }
    return averages, list(found.classes)


def _check_rows(column: NamedColumn, fewest: int, what: str) -> None:
    """Raise FormatError if the table has too few rows."""
    if len(column.cells) < fewest:
        raise FormatError(f"{column.file}: {len(column.cells)} rows; comparing {what} needs {fewest} or more")
