"""Agreement of the judges of a log, by group, and by the share of control items passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from streams.agreement.agreement import Agreement, inter_agreement, intra_agreement, published_agreement
from streams.agreement.agreement_figure import draw_agreement
from streams.agreement.agreement_rows import RULES, AgreementRow, none_if_nan
from streams.agreement.control_rows import ThresholdRow
from streams.agreement.controls import FEWEST, MARGIN, THRESHOLDS, by_threshold, score_controls
from streams.lab.protocols.drawing import find_judges
from streams.lab.running.base import Cell, Experiment, Repeats, Result, Size
from streams.lab.running.tables import ResultTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.agreement.agreement_rows import Kind
    from streams.core.methods.pairs import Pairs
    from streams.lab.running.log import Log

ALL, RESEARCHERS, OTHERS = "all", "researchers", "others"


class Annotators(Experiment, frozen=True):
    """Cohen's kappa between judges and within judges, and by the share of control items that judges passed.

    Findings of WMT13, 3.3 and Tables 3 to 5. Researchers define the controls, and the other judges are tested on them.
    A log without researchers has one group, whose judges are tested on each other. Systems with the same output
    count as tied; `judgestream agreement` also counts outputs as they were shown. One repeat is enough.
    """

    name: ClassVar[str] = "annotators"
    title: ClassVar[str] = "Agreement of judges, and agreement by the share of control items passed"
    reference: ClassVar[str] = "Bojar et al. 2013 (findings of WMT13), Tables 3 to 5"

    repeats: Repeats = 1
    researchers: str = "researcher*"
    margin: Size = MARGIN
    fewest: Size = FEWEST

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign and group of judges."""
        return [
            {
                "campaign": name,
                "judges": group,
                "researchers": self.researchers,
                "margin": self.margin,
                "fewest": self.fewest,
            }
            for name, rankings in log.campaigns.items()
            for group in ((ALL, RESEARCHERS, OTHERS) if len(find_judges(rankings, self.researchers)) else (ALL,))
        ]

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Count agreement by both rules, and test the judges on controls."""
        rankings = log.campaigns[cell["campaign"]]
        every = rankings.pairs
        trusted = np.isin(every.judge, find_judges(rankings, cell["researchers"]))
        rows = {ALL: np.ones(len(every), np.bool_), RESEARCHERS: trusted, OTHERS: ~trusted}[cell["judges"]]
        pairs = every.select(rows)
        inter, intra = published_agreement(pairs)
        found: dict[str, Any] = {
            "wmt": {"inter": _counts(inter), "intra": _counts(intra)},
            "strict": {"inter": _counts(inter_agreement(pairs)), "intra": _counts(intra_agreement(pairs))},
        }
        if cell["judges"] == OTHERS or (cell["judges"] == ALL and not trusted.any()):
            found["thresholds"] = _thresholds(every, pairs, trusted, cell)
        return found

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return kappa by campaign and group, by both rules, and by threshold."""
        rows: list[tuple[Any, ...]] = []
        for one in results:
            for rule in RULES:
                both = [agreement_of(one.measured[rule][kind]) for kind in ("inter", "intra")]
                told = [cell for each in both for cell in (each.kappa, each.observed, each.comparable)]
                rows.append((one.cell["campaign"], one.cell["judges"], rule, *told))
        columns = ("campaign", "judges", "rule", "inter κ", "agree", "of", "intra κ", "agree ", "of ")
        tables = [ResultTable(title="Agreement", columns=columns, rows=tuple(rows), labels=3)]
        passed: list[tuple[Any, ...]] = [
            (
                row.campaign,
                "all judges" if row.threshold is None else f"{row.threshold:.0%}",
                row.judges,
                row.comparisons,
                row.kappa,
                row.comparable,
            )
            for row in threshold_rows(results)
        ]
        title = "Agreement by the share of controls that judges passed (strict)"
        heads = ("campaign", "passed", "judges", "comparisons", "inter κ", "of")
        return [*tables, ResultTable(title=title, columns=heads, rows=tuple(passed), labels=2)]

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw kappa by campaign and group, by the rule of WMT, and by threshold."""
        draw_agreement(figure, _rows(results), (), threshold_rows(results))


def _thresholds(every: Pairs, pairs: Pairs, trusted: Any, cell: Cell) -> list[dict[str, Any]]:
    makers = trusted if trusted.any() else np.ones(len(every), np.bool_)
    trial = score_controls(every, makers, margin=cell["margin"])
    return [
        {"threshold": row.threshold, "judges": row.judges, **_counts(row.agreement)}
        for row in by_threshold(pairs, trial, thresholds=THRESHOLDS, fewest=cell["fewest"])
    ]


def _counts(found: Agreement) -> dict[str, int]:
    return {"agree": found.agree, "comparable": found.comparable, "ties": found.ties, "total": found.total}


def agreement_of(counts: dict[str, Any]) -> Agreement:
    """Return the measures of stored counts."""
    return Agreement(**{name: counts[name] for name in ("agree", "comparable", "ties", "total")})


def threshold_rows(results: Sequence[Result]) -> list[ThresholdRow]:
    """Return the rows of Table 5."""
    return [
        ThresholdRow(
            campaign=one.cell["campaign"],
            threshold=row["threshold"],
            judges=row["judges"],
            comparisons=row["total"],
            comparable=row["comparable"],
            kappa=none_if_nan(agreement_of(row).kappa),
        )
        for one in results
        for row in one.measured.get("thresholds", ())
    ]


def _rows(results: Sequence[Result]) -> list[AgreementRow]:
    kinds: tuple[Kind, Kind] = ("inter", "intra")
    return [
        AgreementRow.of(
            agreement_of(one.measured["wmt"][kind]),
            campaign=one.cell["campaign"],
            judges=None if one.cell["judges"] == ALL else one.cell["judges"],
            collapsed=True,
            kind=kind,
        )
        for one in results
        for kind in kinds
    ]
