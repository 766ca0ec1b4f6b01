"""Rank a log in a script or a notebook: a file, judgments or a DataFrame in, a ranking out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from streams.errors import FormatError, ParameterError
from streams.formats import LogSelection
from streams.formats.features import OutputFeatures, parse_features
from streams.formats.window import LogWindow
from streams.offline.categories import CategoryField, rank_categories
from streams.offline.controls import ControlledLog
from streams.offline.log_input import LogInput
from streams.offline.planning import plan_ranking
from streams.offline.ranking_result import Ranking
from streams.offline.rating import make_leaderboard, rate
from streams.offline.scores import choose_model, with_scale
from streams.offline.style import StyledCampaign, StyleLog, check_plan
from streams.reports import History, Report
from streams.reports.scale import check_scale, on_scale

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from streams.agreement.control_rows import Controls
    from streams.core.campaign.campaign import Campaign
    from streams.formats import OnError, RowError
    from streams.formats.mapping.column_mapping import Pairs
    from streams.formats.selection import Only
    from streams.formats.window import Bound
    from streams.offline.log_input import LogSource
    from streams.wire.events import Judgment, Leaderboard, Parameter


def rank(
    source: LogSource,
    *,
    model: str | None = None,
    ranges: str | None = None,
    parameters: Mapping[str, Parameter] | None = None,
    score_range: Sequence[float] | None = None,
    baseline: str | None = None,
    campaigns: Collection[str] = (),
    only: Only | None = None,
    by: str | None = None,
    since: Bound | None = None,
    until: Bound | None = None,
    controls: str | Controls | None = None,
    control: str | Sequence[str] | None = None,
    scale: str = "score",
    anchor: str | None = None,
    judge_key: str = "",
    runs: int | None = None,
    seed: int = 1,
    threads: int = 1,
    format: str | None = None,  # noqa: A002 - as in streams.formats
    columns: Pairs | None = None,
    values: Pairs = (),
    encoding: str | None = None,
    on_error: OnError | Callable[[RowError], None] = "stop",
) -> Ranking:
    """Rank the systems of a log: a file, several files, a folder, judgments, or a DataFrame as for `read`.

    The models and ranges are those of `judgestream rank`, and the parameters those of `judgestream models NAME`.
    `baseline` is the system that all others are compared with, for models that use one. With `campaigns`, only these
    campaigns are ranked. `runs` is the number of samples for rank ranges; its default depends on the model.
    `only` selects a part of the judgments, for example {"source": "researcher", "judge": ["anna", "ben"]}. `since` and
    `until` select a part by time, both inclusive, or by the number of judgments: a whole number, a date or a time, UTC
    without a zone. `controls` tests the judges: it is the source that makes the controls, "everybody", "@" with the
    name of a file, or `Controls`. `control` regresses features of the outputs out of the ranking, for example
    "length,markdown" (docs/ranking.md, "Style control").
    `by` also ranks each value of a tag by itself, for example "language", or each "judge", "segment" or "source".
    Without a `model`, rankings are rated by trueskill and scores by assessment; the first judgment decides.
    `score_range` are the lowest and the highest score, by default those of the log. With the `scale` "elo", scores are
    Elo points: 1000 at the `anchor`, by default at the mean. With the `judge_key` of the workers, the ranking is that
    of a campaign with these judgments, to the last bit. FormatError is raised if nothing was rated. `format`,
    `columns`, `values`, `encoding` and `on_error` are those of `read`. A single name in `campaigns` is also the
    campaign of a log that names none.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> verdicts = [Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(2, 1), at=EPOCH)]
    >>> [row.system for row in rank(verdicts).rows]
    ['b', 'a']
    """
    unit = check_scale(scale, anchor)
    named = next(iter(campaigns)) if len(campaigns) == 1 else None
    options = {"format": format, "columns": columns, "values": values, "encoding": encoding, "on_error": on_error}
    log = LogInput(source, options | {"default_campaign": named})
    selection = LogSelection.of(only, LogWindow.of(since, until))
    field = None if by is None else CategoryField(by)
    style = StyleLog(OutputFeatures(parse_features(control))) if control is not None else None
    if controls is not None and by is not None:
        raise ParameterError("`by` and `controls` can't be combined; choose one")
    if style and controls is not None:
        raise ParameterError("choose control (features of the outputs) or controls (tests of the judges), not both")
    if controls is not None:
        again = partial(
            rank,
            model=model,
            ranges=ranges,
            parameters=parameters,
            score_range=score_range,
            baseline=baseline,
            campaigns=campaigns,
            scale=scale,
            anchor=anchor,
            judge_key=judge_key,
            runs=runs,
            seed=seed,
            threads=threads,
        )
        tested = ControlledLog.read(log, controls, selection=selection, campaigns=campaigns)
        return replace(
            again(tested.judgments),
            left_out=tested.left_out,
            controls=tested.results,
            without_failing=again(tested.passing()),
            warnings=log.warnings(),
        )
    read = log.batches(features=style.features if style else None)
    batches: Iterable[Sequence[Judgment]] = selection.batches(read) if selection else read
    suited, batches = choose_model(batches, only=campaigns)
    model = model or suited
    plan = plan_ranking(
        model,
        ranges=ranges,
        parameters=with_scale(model, parameters or {}, log.summary.scale if log.summary else None),
        baseline=baseline,
        runs=runs,
        score_range=score_range,
    )
    campaign_type = plan.campaign_type
    if style:
        check_plan(plan)
        batches, campaign_type = style.keep(batches, log=log.name), StyledCampaign
    histories: dict[str, History] = {}
    rate_by_plan = partial(
        rate,
        settings=plan.settings,
        only=campaigns,
        campaign_type=campaign_type,
        judge_key=judge_key,
        observe=lambda campaign: histories.setdefault(campaign.name, History()).observe(campaign),
        by=field,
        unselected=[each.changes for each in (selection, style) if each is not None],
    )
    rated = rate_by_plan(batches)
    while rated.changed:  # judges changed verdicts: the log is rated again without the earlier ones
        histories.clear()
        read = log.again(features=style.features if style else None)
        batches = selection.batches(read) if selection else read
        if style:
            style.clear()
            batches = style.keep(batches, log=log.name)
        rated = rate_by_plan(batches, changed=rated.changed)
    if not rated.read:
        raise FormatError(f"{log.name}: there is no judgment in it")
    rated.check(log.name)
    found = [rated.campaigns[name] for name in sorted(rated.campaigns)]

    def make_board(campaign: Campaign) -> Leaderboard:
        return on_scale(make_leaderboard(campaign, plan, seed=seed, threads=threads), unit, anchor=anchor)

    reports = tuple(
        Report(
            leaderboard=make_board(campaign),
            counts=campaign.tables.pair_counts(),
            history=histories[campaign.name],
        )
        for campaign in found
    )
    categories, notes = rank_categories(rated, make_board)
    control_all = partial(style.rank_all, rated, scale=partial(on_scale, scale=unit, anchor=anchor)) if style else None
    return Ranking(
        reports,
        controlled=Ranking(control_all(reports), categories=control_all(categories)) if control_all else None,
        read=rated.read,
        duplicates=sum(campaign.counts.duplicates for campaign in found),
        rejected=rated.rejections,
        first_rejection=str(rated.first_rejection or ""),
        left_out=(selection.read - selection.kept if selection else 0) + (style.left_out if style else 0),
        warnings=(*log.warnings(), *notes),
        categories=categories,
    )
