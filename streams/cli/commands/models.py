"""`judgestream models`: the models that can rank a log, and the parameters of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.terminal import print_table
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.ranking_models import ModelParameter, RankingModel


@click.command(
    "models",
    epilog="""\b
Examples:
  judgestream models
  judgestream models grm
  judgestream models --json""",
)
@click.argument("name", required=False)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object, with the parameters of each model.")
def command(*, name: str | None, as_object: bool) -> None:
    """List the models that `judgestream rank` takes, or show the parameters of the model NAME.

    A model that runs live can also be the model of a campaign. The others rank a finished log.
    """
    import msgspec

    from streams.core.ranking_models import RANKING_MODELS, find_ranking_model

    try:
        found = [find_ranking_model(name)] if name else list(RANKING_MODELS.values())
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    if as_object:
        click.echo(msgspec.json.encode({"models": [_as_object(model) for model in found]}))
    elif name:
        _print_model(found[0])
    else:
        rows = [(each.name, each.live_text, each.card.assumes, each.card.cost, each.card.choose) for each in found]
        print_table(("model", "live", "assumes", "cost", "choose it"), rows, wrapped=("assumes", "cost", "choose it"))


def _as_object(model: RankingModel) -> dict[str, object]:
    return {
        "name": model.name,
        "live": model.live,
        "rates": model.rates,
        "baseline": model.takes_baseline,
        "ranges": model.ranges,
        "runs": model.runs,
        **model.card._asdict(),
        "parameters": model.parameters(),
    }


def _print_model(model: RankingModel) -> None:
    lines = {
        "assumes": model.card.assumes,
        "cost": model.card.cost,
        "live": model.live_text,
        "choose it": model.card.choose,
        "reference": model.card.reference,
        "rates": model.rates,
        "ranges": f"{', '.join(model.ranges)}; {model.runs:,} runs by default",
        "baseline": "yes, with --baseline" if model.takes_baseline else "no",
    }
    click.echo(model.name)
    for title, text in lines.items():
        click.echo(f"  {title:<10}{text}")
    parameters = model.parameters()
    if not parameters:
        click.echo("\nIt has no parameters.")
        return
    click.echo()
    print_table(("parameter", "values", "default", "meaning"), map(_row, parameters), wrapped=("meaning",))


def _row(parameter: ModelParameter) -> tuple[str, str, str, str]:
    return parameter.name, parameter.values, parameter.default, parameter.meaning
