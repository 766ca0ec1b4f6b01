"""`judgestream rank`: the leaderboards of a log, by any model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.clusters import WMT, Bar, board, rank_wmt, ranking_options, read_logs, show

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from streams.errors import RecordError
    from streams.events import Leaderboard
    from streams.ranking.counts import Log

BATCH = 5_000  # rankings, between which the bar moves
DEFAULT_MODEL = "trueskill"


@click.command(
    "rank",
    epilog="""\b
Examples:
  judgestream rank wmt13.csv.gz
  judgestream rank wmt13.csv.gz --model expected-wins --ranges bootstrap
  judgestream rank wmt15.csv.gz --model bradley-terry --campaign wmt15.de-en --json""",
)
@ranking_options
@click.option("--model", metavar="NAME", default=DEFAULT_MODEL, show_default=True, help="What rates the systems.")
@click.option(
    "--ranges",
    metavar="NAME",
    help="What the rank ranges come from: closed, posterior, wmt or bootstrap; the model has a default.",
)
def command(
    *, file: Path, campaigns: tuple[str, ...], runs: int, seed: int, as_object: bool, model: str, ranges: str | None
) -> None:
    """Rank the systems of a log; no server is needed.

    FILE is a uniform ranking CSV, plain or gzip. A model is an online one, with ranges closed (its default) or
    posterior, and trueskill also wmt; or expected-wins or bradley-terry, with ranges by bootstrap.
    """
    from streams.ranking import SCORES

    engine = chosen_engine(model, ranges)
    logs = read_logs(file, campaigns)
    if model in SCORES:
        boards = _rank_counts(logs, model, engine, runs=runs, seed=seed)
    elif engine == WMT:
        boards = rank_wmt(logs, runs=runs, seed=seed, resample=True)
    else:
        boards = _rank_online(logs, model, engine, runs=runs, seed=seed)
    show(boards, as_object=as_object)


def chosen_engine(model: str, ranges: str | None) -> str:
    """Check that there is such a model and that it has such ranges; the first ones that it has are the default."""
    from streams.errors import suggestion
    from streams.models import MODELS
    from streams.ranking import ENGINES, SCORES

    engines: dict[str, tuple[str, ...]] = {
        name: ("closed", "posterior") for name, found in MODELS.items() if found.kind == "rankings"
    }
    engines[DEFAULT_MODEL] += (WMT,)
    engines |= dict.fromkeys(SCORES, ("bootstrap",))
    if model in MODELS and model not in engines:
        raise click.UsageError(f"the model {model!r} rates {MODELS[model].kind}, and a log of this form has rankings")
    if model not in engines:
        raise click.UsageError(f"no model {model!r}; {suggestion(model, engines)}")
    if ranges is None:
        return engines[model][0]
    if ranges not in ENGINES:
        raise click.UsageError(f"no ranges {ranges!r}; {suggestion(ranges, ENGINES)}")
    if ranges not in engines[model]:
        has, fits = ", ".join(engines[model]), ", ".join(name for name, found in engines.items() if ranges in found)
        raise click.UsageError(f"no ranges {ranges!r} of the model {model!r}, which has: {has}; models with it: {fits}")
    return ranges


def _rank_counts(logs: Mapping[str, Log], model: str, engine: str, *, runs: int, seed: int) -> list[Leaderboard]:
    from streams.ranking import PairCounts, stand

    boards = []
    with Bar(total=sum(map(len, logs.values()))) as bar:
        for name, log in logs.items():
            bar.describe(name)
            counts = PairCounts.of(judgment for _, judgment in log)
            standing = stand(engine, counts, score=model, runs=runs, seed=seed)
            boards.append(board(name, model, log, standing.rows(counts.systems, counts.judgments.tolist())))
            bar.advance(len(log))
    return boards


def _rank_online(logs: Mapping[str, Log], model: str, engine: str, *, runs: int, seed: int) -> list[Leaderboard]:
    from streams import kernels

    pairs = sum(
        len(judgment.systems) * (len(judgment.systems) - 1) // 2 for log in logs.values() for _, judgment in log
    )
    if pairs >= kernels.WORTH_LOADING:
        kernels.compiled("pairs")  # a batch alone would not be worth it
    with Bar(total=sum(map(len, logs.values()))) as bar:
        return [_rank_campaign(name, log, model, engine, runs=runs, seed=seed, bar=bar) for name, log in logs.items()]


def _rank_campaign(name: str, log: Log, model: str, engine: str, *, runs: int, seed: int, bar: Bar) -> Leaderboard:
    """Apply a campaign's log as a worker would, and rank what its model says at the end."""
    import msgspec

    from streams.campaign import Campaign
    from streams.events import CampaignSettings
    from streams.ranking import Ratings, stand

    bar.describe(name)
    campaign = Campaign(name, CampaignSettings(model=model, outstanding=0, replicas=0))
    rejections: list[tuple[int, RecordError]] = []
    for first in range(0, len(log), BATCH):
        batch = log[first : first + BATCH]
        rejections += campaign.apply(batch).rejections
        bar.advance(len(batch))
    if rejections:
        click.echo(f"{name}: {len(rejections):,} of {len(log):,} rejected; the first: {rejections[0][1]}", err=True)
    standing = stand(engine, Ratings(*campaign.model.scores()), runs=runs, seed=seed)
    tables = campaign.tables
    rows = standing.rows(tables.systems.names, tables.system_judgments[: len(tables.systems)].tolist())
    return msgspec.structs.replace(campaign.leaderboard(), rows=rows)
