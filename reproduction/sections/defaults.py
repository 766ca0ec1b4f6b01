"""The online models of this project on every log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.section import Section
from streams.lab.experiments.online import DEFAULT, TIES, summary
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.experiments import Estimate, Result

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
    said = (
        f"Every judgment is predicted before the model learns from it, on {campaigns} "
        f"campaign{'s' * (campaigns != 1)}. The log-loss of the default model, `{DEFAULT}`, is {gain:.3f} nats per "
        "comparison below that of the share of ties alone. `grm` also models judges and segments. Without ties, its "
        f"loss is {_signed(without)} nats above that of `{DEFAULT}`. "
    )
    if with_ties.mean >= 0:
        return f"{said}With ties, it is {_signed(with_ties)} nats above it."
    return said + (
        f"With ties, `grm` is better by {-with_ties.mean:.3f} nats: it learns how often judges tie, while `{DEFAULT}` "
        f"has a fixed margin. So `{DEFAULT}` predicts ties less well, with a calibration error of "
        f"{ours['calibration error']:.3f} against {grm['calibration error']:.3f}. Its order is not affected."
    )


def _signed(gap: Estimate) -> str:
    return f"{gap.mean:+.3f}" + (f" ± {gap.error:.3f}" if gap.error is not None else "")


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
