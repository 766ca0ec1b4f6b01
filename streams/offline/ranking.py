"""Rank a log in a script or a notebook: a file, judgments or a DataFrame in, a ranking out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import msgspec

from streams.errors import FormatError, ParameterError, suggestion
from streams.formats import LogSelection
from streams.formats.window import LogWindow
from streams.offline.controls import ControlledLog, choose_controls
from streams.offline.dataframes import to_dataframe
from streams.offline.log_input import LogInput
from streams.offline.planning import plan_ranking
from streams.offline.rating import make_leaderboard, rate
from streams.offline.scores import choose_model, with_scale
from streams.reports import History, Report
from streams.reports.html_page import html_page
from streams.reports.html_table import fragment, leaderboard_notes, leaderboard_table
from streams.reports.notes import describe_trouble
from streams.reports.scale import check_scale, on_scale
from streams.reports.score_axis import ScoreText, has_judge_ranges, judge_range, rank_range

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from matplotlib.figure import Figure
    from pandas import DataFrame

    from streams.agreement.control_rows import CampaignControls, Controls
    from streams.core.campaign.campaign import Campaign
    from streams.formats import OnError, RowError
    from streams.formats.mapping.column_mapping import Pairs
    from streams.formats.selection import Only
    from streams.formats.window import Bound
    from streams.offline.log_input import LogSource
    from streams.wire.events import Judgment, Leaderboard, Parameter, Row


@dataclass(frozen=True)
class Ranking:
    """The leaderboards of a log, one per campaign. `ranking["wmt13.fr-en"]` is the ranking of one campaign.

    `read` counts the judgments of the log, without the `left_out` ones, which were not selected. `duplicates` counted
    once, and `rejected` ones did not count. With `controls`, there are the results of the judges on them by campaign,
    and the ranking without the judges who fail. `warnings` says what the log lacks, such as judges, and which rows were
    bad.
    """

    reports: tuple[Report, ...]
    read: int = 0
    duplicates: int = 0
    rejected: int = 0
    first_rejection: str = ""
    left_out: int = 0
    controls: tuple[CampaignControls, ...] = ()
    without_failing: Ranking | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, campaign: Campaign) -> Ranking:
        """Return the current ranking of a campaign.

        >>> from streams.core.campaign.campaign import Campaign
        >>> Ranking.of(Campaign("c"))
        <Ranking c: trueskill, 0 judgments, 0 clusters>
        """
        report = Report(leaderboard=campaign.leaderboard(), counts=campaign.tables.pair_counts())
        return cls((report,), read=campaign.counts.records)

    @property
    def leaderboards(self) -> tuple[Leaderboard, ...]:
        """Return the leaderboards, sorted by campaign."""
        return tuple(report.leaderboard for report in self.reports)

    @property
    def campaigns(self) -> tuple[str, ...]:
        """Return the names of the campaigns."""
        return tuple(found.campaign for found in self.leaderboards)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the rows of the leaderboard. The ranking must have one campaign."""
        return self._only().leaderboard.rows

    def __getitem__(self, campaign: str) -> Ranking:
        for report in self.reports:
            if report.leaderboard.campaign == campaign:
                return Ranking((report,))
        raise ParameterError(f"no campaign {campaign!r} in the ranking; {suggestion(campaign, self.campaigns)}")

    def __repr__(self) -> str:
        text = "; ".join(f"{report.leaderboard.campaign}: {report.about}" for report in self.reports)
        return f"<Ranking {text}{self._not_counted()}>"

    def __str__(self) -> str:
        blocks = []
        for report in self.reports:
            board, form = report.leaderboard, ScoreText.of(report.leaderboard)
            width, others = max((len(row.system) for row in board.rows), default=0), has_judge_ranges(board.rows)
            lines = [
                f"{row.rank:>4}  {rank_range(row.rank_low, row.rank_high):<7}  "
                f"{f'{judge_range(row):<7}  ' if others else ''}{row.system:<{width}}  "
                f"{form.score(row)} ± {form.deviation(row)}"
                for row in board.rows
            ]
            blocks.append("\n".join([f"{board.campaign}  {report.about}", *lines, *describe_trouble(board)]))
        return "\n\n".join(blocks) + self._not_counted()

    def _repr_html_(self) -> str:
        blocks = [
            f"<p><b>{report.leaderboard.campaign}</b>&ensp;{report.about}</p>{leaderboard_table(report.leaderboard)}"
            f"{leaderboard_notes(report.leaderboard)}"
            for report in self.reports
        ]
        not_counted = self._not_counted().removeprefix("; ")
        return fragment([*blocks, f"<p>{escape(not_counted)}</p>"] if not_counted else blocks)

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with one row per system and campaign. This needs the extra `pandas`."""
        return to_dataframe(
            [
                {"campaign": found.campaign, "model": found.model, **msgspec.structs.asdict(row)}
                for found in self.leaderboards
                for row in found.rows
            ]
        )

    def pairs_to_pandas(self) -> DataFrame:
        """Return a DataFrame with one row per pair of systems that met. This needs the extra `pandas`."""
        return to_dataframe(
            [
                {"campaign": report.leaderboard.campaign, **msgspec.structs.asdict(pair)}
                for report in self.reports
                for pair in report.pairs()
            ]
        )

    def to_html(self) -> str:
        """Return one HTML page that needs no other file."""
        return html_page(self.reports)

    def plot(self) -> Figure:
        """Draw rank ranges, head to head and ratings over time of one campaign. This needs the extra `plot`."""
        from streams.reports.plots import ranking_figure

        return ranking_figure(self._only())

    def _only(self) -> Report:
        if len(self.reports) == 1:
            return self.reports[0]
        raise ParameterError(
            f"the ranking has {len(self.reports)} campaigns; choose one, for example ranking[{self.campaigns[0]!r}]"
        )

    def _not_counted(self) -> str:
        text = f"; {self.left_out:,} of {self.read + self.left_out:,} left out" if self.left_out else ""
        if self.duplicates:
            text += f"; {self.duplicates:,} duplicate{'s' * (self.duplicates != 1)}"
        if self.rejected:
            text += f"; {self.rejected:,} of {self.read:,} rejected, the first: {self.first_rejection}"
        return text + "".join(f"; {warning}" for warning in self.warnings)


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
    since: Bound | None = None,
    until: Bound | None = None,
    controls: str | Controls | None = None,
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
    name of a file, or `Controls`.
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
        tested = _controlled(log, controls, selection=selection, campaigns=campaigns)
        return replace(
            again(tested.judgments),
            left_out=tested.left_out,
            controls=tested.results,
            without_failing=again(tested.passing()),
            warnings=log.warnings(),
        )
    batches: Iterable[Sequence[Judgment]] = selection.batches(log.batches()) if selection else log.batches()
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
    histories: dict[str, History] = {}
    rate_by_plan = partial(
        rate,
        settings=plan.settings,
        only=campaigns,
        campaign_type=plan.campaign_type,
        judge_key=judge_key,
        observe=lambda campaign: histories.setdefault(campaign.name, History()).observe(campaign),
    )
    rated = rate_by_plan(batches)
    if rated.changed:  # judges changed verdicts: the log is rated again without the earlier ones
        histories.clear()
        rated = rate_by_plan(selection.batches(log.again()) if selection else log.again(), changed=rated.changed)
    if not rated.read:
        raise FormatError(f"{log.name}: there is no judgment in it")
    rated.check(log.name)
    found = [rated.campaigns[name] for name in sorted(rated.campaigns)]
    reports = tuple(
        Report(
            leaderboard=on_scale(make_leaderboard(campaign, plan, seed=seed, threads=threads), unit, anchor=anchor),
            counts=campaign.tables.pair_counts(),
            history=histories[campaign.name],
        )
        for campaign in found
    )
    return Ranking(
        reports,
        read=rated.read,
        duplicates=sum(campaign.counts.duplicates for campaign in found),
        rejected=rated.rejections,
        first_rejection=str(rated.first_rejection or ""),
        left_out=selection.read - selection.kept if selection else 0,
        warnings=log.warnings(),
    )


def _controlled(
    log: LogInput, controls: str | Controls, *, selection: LogSelection | None, campaigns: Collection[str]
) -> ControlledLog:
    shared: dict[str, tuple[tuple[str, ...], ...]] = {}
    if isinstance(controls, str):
        controls = choose_controls(controls)
    return ControlledLog.of(log.batches(shared), controls, shared=shared, selection=selection, campaigns=campaigns)
