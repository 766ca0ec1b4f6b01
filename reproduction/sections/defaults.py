"""The online models of this project on every log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.claims import describe
from reproduction.section import Section, fill_text
from streams.lab.experiments.online import DEFAULT, TIES, summary
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.experiments import Result

KEY = "judgestream"
PAPER = "Judgestream's own models"
NOT_SHOWN = ""
LOGS = {
    "wmt13_fr-en_rank.csv.gz": ("online-wmt13", "WMT13 French-English"),
    "wmt15_rank.csv.gz": ("online-wmt15", "ten pairs of WMT15"),
    "wmt11_rank.csv.gz": ("online-wmt11", "WMT11"),
    "wmt10_rank.csv.gz": ("online-wmt10", "WMT10, experts and crowd"),
    "llmfao_crowd.csv.gz": ("online-llmfao", "an arena of language models"),
}


def _text(results: Sequence[Result]) -> str:
    table = summary(results)
    rows: dict[str, Any] = {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}
    ours, grm = rows[DEFAULT], rows["grm"]
    gain = rows[TIES]["log-loss"] - ours["log-loss"]
    campaigns = len(group_by(results, "campaign"))
    with_ties, without = (grm[f"above `{DEFAULT}`{name}"] for name in ("", " "))
    return fill_text(
        "online",
        campaigns=f"{campaigns} campaign{'s' * (campaigns != 1)}",
        default=f"`{DEFAULT}`",
        gain=f"{gain:.3f}",
        without=describe(without),
        with_ties=describe(with_ties),
        calibration=f"{ours['calibration error']:.3f}",
        grm_calibration=f"{grm['calibration error']:.3f}",
    )


SECTIONS = tuple(
    Section(
        name=name,
        title=f"Online models on {what}",
        paper=KEY,
        experiment="online",
        file=file,
        tables=lambda results: [summary(results)],
        text=_text,
        caption=f"Calibration and log-loss of the online models on {what}",
    )
    for file, (name, what) in LOGS.items()
)
