"""The options that choose how a log is ranked, for commands that rank with any model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from streams.cli.importing import without_collecting
from streams.cli.ranking import parse_parameters
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from streams.cli.log_options import LogFile
    from streams.offline.planning import RankingPlan
    from streams.wire.events import Judgment


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """The model of a ranking and its options, as they were given."""

    model: str | None
    texts: tuple[str, ...]
    baseline: str | None
    ranges: str | None
    bounds: str | None
    runs: int | None

    def plan(self, model: str, scale: str | None = None) -> RankingPlan:
        """Return the plan of a ranking with this model, or raise UsageError. `scale` is that of a file of scores."""
        from streams.cli.campaign_settings import parse_settings
        from streams.offline.planning import plan_ranking
        from streams.offline.scores import with_scale

        try:
            return plan_ranking(
                model,
                ranges=self.ranges,
                parameters=with_scale(model, parse_parameters(model, self.texts), scale),
                baseline=self.baseline,
                runs=self.runs,
                **parse_settings((), {"score_range": self.bounds}),
            )
        except ParameterError as error:
            raise click.UsageError(str(error)) from None

    def check(self) -> None:
        """Raise UsageError if the options do not fit the model. Without a model, that is known when a log is read."""
        if self.model is not None:
            self.plan(self.model)

    def read(self, log: LogFile, campaigns: Sequence[str]) -> tuple[RankingPlan, Iterable[Sequence[Judgment]]]:
        """Return the plan for a log and its batches. Without a model, the first judgment decides."""
        log.begin()
        with without_collecting():
            from streams.offline.rating import rate  # noqa: F401 - it takes as long as reading the first batch
            from streams.offline.scores import choose_model

        batches: Iterable[Sequence[Judgment]] = log.batches(columns=log.is_long)
        try:
            suited, batches = choose_model(batches, only=campaigns)
        except ParameterError as error:
            raise click.UsageError(f"{log.file}: {error}") from None
        return self.plan(self.model or suited, log.reading.summary.scale), batches


def model_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add --model and its options to a command, which gets the ModelChoice `choice`. It needs --runs."""

    @wraps(function)
    def run(
        *arguments: Any,
        model: str | None,
        texts: tuple[str, ...],
        baseline: str | None,
        ranges: str | None,
        bounds: str | None,
        runs: int | None,
        **more: Any,
    ) -> None:
        choice = ModelChoice(model=model, texts=texts, baseline=baseline, ranges=ranges, bounds=bounds, runs=runs)
        function(*arguments, choice=choice, **more)

    options = (
        click.option(
            "--model",
            metavar="NAME",
            help="Model, one of `judgestream models`.  [default: trueskill or assessment, by the log]",
        ),
        click.option(
            "--parameter",
            "texts",
            multiple=True,
            metavar="NAME=VALUE",
            help="Parameter of the model; may be repeated. `judgestream models NAME` lists them.",
        ),
        click.option(
            "--baseline",
            metavar="SYSTEM",
            help="System that all others are compared with, for grm and grm-batch.  "
            "[default: none; grm-batch chooses one]",
        ),
        click.option(
            "--ranges",
            metavar="NAME",
            help="Method of the rank ranges: groups, closed, posterior, bootstrap or wmt.  [default: by the model]",
        ),
        click.option(
            "--score-range",
            "bounds",
            metavar="LOW,HIGH",
            help="Lowest and highest score of direct assessment, e.g. 1,7.  [default: those of the log]",
        ),
    )
    for option in reversed(options):
        run = option(run)
    return run
