"""`judgestream evaluate`: the experiments of the papers on any log."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from streams.cli.campaign_settings import parse_pairs
from streams.cli.log_options import LogFile, campaigns_option, log_argument
from streams.cli.progress import Bar
from streams.cli.terminal import print_table, refuse_combination
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.experiments import Experiment, Log, ResultTable
    from streams.lab.running.results import Results

_FILE = click.Path(path_type=Path, dir_okay=False)


def _list_experiments(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from streams.lab.experiments import EXPERIMENTS

    for name, found in EXPERIMENTS.items():
        options = ", ".join(f"{field}={_plain(getattr(found, field))}" for field in found.__struct_fields__)
        click.echo(f"{name}\n    {found.title}\n    after {found.reference}\n    needs {found.needs}\n    {options}\n")
    ctx.exit()


def _plain(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


@click.command(
    "evaluate",
    epilog="""\b
Examples:
  judgestream evaluate --list
  judgestream evaluate wmt13.csv.gz --experiment prediction --repeats 2 --sizes 20,40
  judgestream evaluate wmt13.csv.gz --experiment prediction --repeats 2 --sizes 20 --models trueskill,elo --json
  judgestream evaluate wmt13.csv.gz --experiment prediction --repeats 2 --sizes 20,40 --plot prediction.svg
  judgestream evaluate wmt13.csv.gz --experiment prediction --repeats 2 --sizes 20 --results results""",
)
@log_argument
@click.option("--experiment", "name", metavar="NAME", required=True, help="Name of the experiment; --list shows all.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_experiments,
    help="List the experiments with their options.",
)
@campaigns_option("use")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    help="Number of repetitions. More give smaller standard errors.  [default: see --list]",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), help="Seed of the random number generator.  [default: see --list]"
)
@click.option("--sizes", metavar="N,N,...", help="Sizes of the training sets, in judgments.  [default: see --list]")
@click.option("--models", metavar="NAME,NAME,...", help="Models to train.  [default: see --list]")
@click.option(
    "--option",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other option of the experiment; may be repeated.  [default: see --list]",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=lambda: os.cpu_count() or 1,
    help="Number of processes.  [default: one per core]",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A .jsonl file, or a folder, that keeps the results. A later run continues from there.",
)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object: tables, results, options and versions.")
@click.option("--markdown", "as_text", is_flag=True, help="Print the tables as Markdown.")
@click.option("--plot", type=_FILE, metavar="FILE", help="File for a figure: .png, .svg or .pdf.")
def command(
    *,
    log: LogFile,
    name: str,
    campaigns: tuple[str, ...],
    settings: tuple[str, ...],
    jobs: int,
    results: Path | None,
    as_object: bool,
    as_text: bool,
    plot: Path | None,
    **options: int | str | None,
) -> None:
    """Run an experiment of the papers on a log.

    FILE is a log in any format of `judgestream convert`. With the defaults it takes about a minute. With --results an
    interrupted run can be continued.
    """
    from streams.cli import outputs
    from streams.lab.experiments import Log

    refuse_combination(json=as_object, markdown=as_text)
    outputs.check_suffix(plot, outputs.PICTURES, option="--plot")
    try:
        chosen = _choose_experiment(name, options, settings)
        data = Log.of(chain.from_iterable(log.batches()), file=Path(log.file).name, only=campaigns)
        chosen.cells(data)
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    found = _run(chosen, data, jobs=jobs, file=_results_file(results, chosen, data))
    tables = chosen.tables(found.results)
    if plot:
        from streams.lab.running.figures import draw_image

        outputs.write(plot, draw_image(chosen, found.results, suffix=plot.suffix.lower()))
    if as_object:
        about = {"title": chosen.title, "reference": chosen.reference, "tables": tables}
        click.echo(msgspec.json.encode(about | msgspec.to_builtins(found.head) | {"results": found.results}))
    elif as_text:
        click.echo("\n".join(f"**{table.title}**\n\n{table.markdown()}" for table in tables), nl=False)
    else:
        _print_tables(chosen, tables)


def _choose_experiment(name: str, options: dict[str, int | str | None], settings: Sequence[str]) -> Experiment:
    """Return the experiment with the given options. Each option has the type of its default."""
    from streams.lab.experiments import EXPERIMENTS, experiment

    given = {field: value for field, value in options.items() if value is not None}
    given |= dict(parse_pairs(settings, option="--option"))
    defaults = EXPERIMENTS.get(name)
    return experiment(
        name, {field: _parse_option(value, getattr(defaults, field, None)) for field, value in given.items()}
    )


def _parse_option(value: int | str, default: object) -> object:
    """Read a value. If the default is a tuple, read several values with commas between them."""
    if isinstance(value, int):
        return value
    if isinstance(default, tuple):
        return [_parse_option(part.strip(), default[0] if default else "") for part in value.split(",")]
    if isinstance(default, str):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value


def _results_file(results: Path | None, chosen: Experiment, log: Log) -> Path | None:
    """Return the file for the results. In a folder there is one file per experiment and log."""
    if results is None or results.suffix == ".jsonl":
        return results
    return results / f"{chosen.name}.{log.source.sha256[:12]}.jsonl"


def _run(chosen: Experiment, log: Log, *, jobs: int, file: Path | None) -> Results:
    from streams.lab.running.runner import run

    with Bar(total=len(chosen.cells(log))) as bar:
        bar.describe(chosen.name)
        return run(chosen, log, file=file, jobs=jobs, progress=lambda done, _: bar.complete(done))


def _print_tables(chosen: Experiment, tables: Sequence[ResultTable]) -> None:
    click.echo(f"{chosen.title}\nafter {chosen.reference}")
    for table in tables:
        click.echo(f"\n{table.title}")
        print_table(table.columns, table.texts(), wrapped=(), right=table.columns[table.labels :])
