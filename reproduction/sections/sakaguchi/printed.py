"""Settings as the paper prints them, beside those of the official program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.claims import describe, format_signed
from reproduction.papers import read_published
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.sakaguchi.paper import KEY, WMT13
from reproduction.stored import read_results
from streams.lab.experiments import Result, ResultTable
from streams.lab.protocols.learners import PRINTED, SELECTS
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


def _tables(results: Sequence[Result]) -> list[ResultTable]:
    rows = []
    for size, group in group_by(results, "size").items():
        by_model = group_by(group, "model")
        gaps = [
            paired_difference(by_model[PRINTED], by_model[SELECTS], measure)
            for measure in ("accuracy", "carved_perplexity")
        ]
        rows.append((size, format_signed(gaps[0]), format_signed(gaps[1], 3)))
    title = "Printed settings minus those of the program, within repeats"
    return [ResultTable(title=title, columns=("pairs", "accuracy", "perplexity, split"), rows=tuple(rows))]


def _text(results: Sequence[Result]) -> str:
    setup = read_published(KEY)["setup"]
    large = max(one.cell["size"] for one in results)
    by_model = group_by([one for one in results if one.cell["size"] == large], "model")
    clusters = read_results("clusters").results
    most = max(one.cell["size"] for one in clusters)
    by_cluster = group_by([one for one in clusters if one.cell["size"] == most], "model")
    return fill_text(
        "printed",
        factor=str(setup["beta_factor"]),
        margin=str(setup["margin"]),
        large=f"{large:,}",
        accuracy=describe(paired_difference(by_model[PRINTED], by_model[SELECTS], "accuracy"), 4),
        perplexity=describe(paired_difference(by_model[PRINTED], by_model[SELECTS], "carved_perplexity")),
        most=f"{most:,}",
        clusters=describe(paired_difference(by_cluster[PRINTED], by_cluster[SELECTS], "clusters"), 1),
    )


SECTION = Section(
    name="printed",
    title="Settings as printed and as in the official program",
    paper=KEY,
    experiment="prediction",
    file=WMT13,
    options={"repeats": 150, "models": [SELECTS, PRINTED], "pools": ["all"]},
    tables=_tables,
    text=_text,
)
