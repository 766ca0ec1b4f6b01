"""The official ranking of WMT13 on a log: Expected Wins, rank ranges, clusters and head-to-head tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from streams.agreement.head_to_head import HeadToHead
from streams.agreement.head_to_head_figure import draw_head_to_head, size_of
from streams.core.ranking import PairCounts, rank_scores
from streams.lab.running.base import Cell, Experiment, Repeats, Result, Size
from streams.lab.running.tables import ResultTable
from streams.reports.report import short_names
from streams.reports.score_axis import rank_range
from streams.wire.events import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.lab.running.log import Log


class OfficialRanking(Experiment, frozen=True):
    """Expected Wins, rank ranges by a bootstrap of the comparisons, clusters, and head-to-head tables with sign tests.

    Findings of WMT13, 3.4, 3.5, Tables 6 and 21 to 30. The bootstrap has its own number of runs.
    """

    name: ClassVar[str] = "official"
    title: ClassVar[str] = "Expected Wins with rank ranges and clusters, and systems head to head"
    reference: ClassVar[str] = "Bojar et al. 2013 (findings of WMT13), Tables 6 and 21 to 30"

    repeats: Repeats = 1
    runs: Size = 1000

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign."""
        return [{"campaign": name, "runs": self.runs, "seed": self.seed} for name in log.campaigns]

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Rank the systems, and test every pair."""
        rankings = log.campaigns[cell["campaign"]]
        wins, ties = rankings.pairs.counts()
        judgments = np.bincount(rankings.system, minlength=len(rankings.systems))
        counts = PairCounts(systems=rankings.systems, wins=wins, ties=ties, judgments=judgments)
        ranked = rank_scores("bootstrap", counts, runs=cell["runs"], seed=cell["seed"])
        rows = ranked.rows(counts.systems, judgments.tolist())
        order = np.array([counts.systems.index(row.system) for row in rows])
        table = HeadToHead.of(counts).ordered(order)
        return {
            "systems": [row.system for row in rows],
            "score": [row.score for row in rows],
            "deviation": [row.deviation for row in rows],
            "decided": counts.decided,
            "low": [row.rank_low for row in rows],
            "high": [row.rank_high for row in rows],
            "cluster": [row.cluster for row in rows],
            # JSON has no NaN. Rows and columns are those of the findings: the column was preferred to the row.
            "shares": [[None if share != share else share for share in line] for line in table.shares.T.tolist()],
            "p": table.p.tolist(),
        }

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return the ranking and the head-to-head table of each campaign."""
        tables = []
        for one in results:
            campaign, rows, table = one.cell["campaign"], rows_of(one), table_of(one)
            names = short_names(table.systems)
            ranked: list[tuple[Any, ...]] = [
                (row.cluster, names[row.system], row.score, rank_range(row.rank_low, row.rank_high)) for row in rows
            ]
            columns = ("cluster", "system", "Expected Wins", "rank range")
            tables.append(ResultTable(title=f"{campaign}: ranking", columns=columns, rows=tuple(ranked), labels=2))
            places = range(len(rows))
            met: list[tuple[Any, ...]] = [
                (str(i + 1), names[row.system], *(table.cell(i, j) for j in places)) for i, row in enumerate(rows)
            ]
            title = f"{campaign}: how often the row was preferred to the column"
            heads = ("", "system", *(str(k + 1) for k in places))
            tables.append(ResultTable(title=title, columns=heads, rows=tuple(met), labels=2))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw the head-to-head tables, one below the other."""
        sizes = [size_of(len(one.measured["systems"])) for one in results]
        figure.set_size_inches(max(width for width, _ in sizes), sum(height for _, height in sizes))
        panels = figure.subplots(len(results), 1, squeeze=False, height_ratios=[height for _, height in sizes])
        for axes, one in zip(panels[:, 0], results, strict=True):
            draw_head_to_head(axes, one.cell["campaign"], rows_of(one), table_of(one))


def rows_of(result: Result) -> list[Row]:
    """Return the ranking as leaderboard rows."""
    names = {"system": "systems", "score": "score", "deviation": "deviation"}
    names |= {"rank_low": "low", "rank_high": "high", "cluster": "cluster"}
    columns = [result.measured[name] for name in names.values()]
    return [
        Row(rank=rank, judgments=0, **dict(zip(names, values, strict=True)))
        for rank, values in enumerate(zip(*columns, strict=True), start=1)
    ]


def table_of(result: Result) -> HeadToHead:
    """Return the head-to-head table."""
    found = result.measured
    shares = np.array([[np.nan if share is None else share for share in line] for line in found["shares"]], np.float64)
    return HeadToHead(systems=tuple(found["systems"]), shares=shares.T, p=np.array(found["p"], np.float64))
