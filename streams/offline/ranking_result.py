"""The ranking of a log, as a value: tables, text, DataFrames, a page and figures."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from streams.errors import ParameterError, suggestion
from streams.offline.categories import category_columns, in_order
from streams.offline.dataframes import to_dataframe
from streams.reports import Report
from streams.reports.html_page import html_page
from streams.reports.html_table import fragment, leaderboard_notes, leaderboard_table
from streams.reports.notes import board_title
from streams.reports.plain_text import reports_as_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from streams.agreement.control_rows import CampaignControls
    from streams.core.campaign.campaign import Campaign
    from streams.wire.events import Leaderboard, Row


@dataclass(frozen=True)
class Ranking:
    """The leaderboards of a log, one per campaign. `ranking["wmt13.fr-en"]` is the ranking of one campaign.

    `read` counts the judgments of the log, without the `left_out` ones, which were not selected. `duplicates` counted
    once, and `rejected` ones did not count. With `controls`, there are the results of the judges on them by campaign,
    and the ranking without the judges who fail. With `control`, `controlled` is the ranking without the effect of
    these features; `effects` of its reports has their coefficients. `warnings` says what the log lacks, such as
    judges, and which rows were bad. With `by`, `categories` are the rankings of each value by itself.
    """

    reports: tuple[Report, ...]
    read: int = 0
    duplicates: int = 0
    rejected: int = 0
    first_rejection: str = ""
    left_out: int = 0
    controls: tuple[CampaignControls, ...] = ()
    without_failing: Ranking | None = None
    controlled: Ranking | None = None
    warnings: tuple[str, ...] = ()
    categories: tuple[Report, ...] = ()

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
    def category_leaderboards(self) -> dict[tuple[str, str], Leaderboard]:
        """Return the leaderboards of the categories, by campaign and value."""
        boards = [report.leaderboard for report in self.categories]
        return {(board.campaign, board.category.value): board for board in boards if board.category is not None}

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
                parts = tuple(part for part in self.categories if part.leaderboard.campaign == campaign)
                return Ranking((report,), categories=parts)
        raise ParameterError(f"no campaign {campaign!r} in the ranking; {suggestion(campaign, self.campaigns)}")

    def __repr__(self) -> str:
        text = "; ".join(f"{board_title(report.leaderboard)}: {report.about}" for report in self._all())
        return f"<Ranking {text}{self._not_counted()}>"

    def __str__(self) -> str:
        return reports_as_text(self._all()) + self._not_counted()

    def _repr_html_(self) -> str:
        blocks = [
            f"<p><b>{escape(board_title(report.leaderboard))}</b>&ensp;{report.about}</p>"
            f"{leaderboard_table(report.leaderboard)}{leaderboard_notes(report.leaderboard)}"
            for report in self._all()
        ]
        not_counted = self._not_counted().removeprefix("; ")
        return fragment([*blocks, f"<p>{escape(not_counted)}</p>"] if not_counted else blocks)

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with one row per system, campaign and category. This needs the extra `pandas`."""
        return to_dataframe(
            [
                {"campaign": found.campaign, **self._columns(found), "model": found.model, **asdict(row)}
                for found in (report.leaderboard for report in self._all())
                for row in found.rows
            ]
        )

    def pairs_to_pandas(self) -> DataFrame:
        """Return a DataFrame with one row per pair of systems that met. This needs the extra `pandas`."""
        return to_dataframe(
            [
                {"campaign": report.leaderboard.campaign, **self._columns(report.leaderboard), **asdict(pair)}
                for report in self._all()
                for pair in report.pairs()
            ]
        )

    def to_html(self) -> str:
        """Return one HTML page that needs no other file."""
        return html_page([*self._all(), *(self.controlled._all() if self.controlled else ())])

    def plot(self) -> Figure:
        """Draw rank ranges, head to head and ratings over time of one campaign. This needs the extra `plot`."""
        from streams.reports.plots import ranking_figure

        return ranking_figure(self._only())

    def _all(self) -> list[Report]:
        return in_order(self.reports, self.categories)

    def _columns(self, board: Leaderboard) -> dict[str, str | None]:
        return category_columns(board) if self.categories else {}

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
