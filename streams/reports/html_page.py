"""Write rankings as one HTML page that needs no other file: no script, no font, no picture."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from streams.reports import html_heatmap, html_table
from streams.reports.notes import board_title
from streams.reports.score_axis import has_judge_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.reports.provenance import Provenance
    from streams.reports.report import Report

_STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1c1f23; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --ink: #e4e7ea; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
h1, h2 { font-weight: 650; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; }
h2 { font-size: 1.35rem; }
h3 { font-size: 1rem; font-weight: 600; margin: 2rem 0 .6rem; }
section + section { margin-top: 3.5rem; padding-top: 2rem;
  border-top: 1px solid color-mix(in srgb, var(--ink) 25%, transparent); }
.about { margin: .2rem 0 1.4rem; opacity: .75; }
.note { font-size: .85rem; opacity: .75; max-width: 46rem; margin: .8rem 0 0; }
dl.note { columns: 2 24rem; column-gap: 3rem; max-width: none; }
dt { font-weight: 600; break-after: avoid; }
dd { margin: 0 0 .6rem; break-inside: avoid; }
footer { margin-top: 2.5rem; overflow-wrap: anywhere; }
nav { margin: .8rem 0 2.5rem; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
a { color: inherit; }
@media (max-width: 40rem) { main { padding: 1.2rem .9rem 2rem; } }
@media print { .judgestream .board tr { break-inside: avoid; } }
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_TERMS = {
    "Judgment": "One answer of one judge: which of these systems is better on this segment, or how good one system is.",
    "Rank": "The place of a system by its score. 1 is best.",
    "Range": "The ranks of a system that are plausible with 95 % confidence, if the same judges were asked again. It "
    "holds for each system, not for all at once.",
    "Cluster": "Systems between two lines. Systems above a line are better than systems below it; within a cluster the "
    "order may be chance. A solid line holds for other judges too, a dashed line for these judges.",
    "Score ± dev.": "How good a system is by the model that is named above the table, and the standard deviation of "
    "this score. Higher is better. In the picture, the dot is the score, the thick line one standard deviation, the "
    "thin line 95 %.",
}
_HEAD_TO_HEAD = "How often the system of the row was preferred to the system of the column. Ties are ignored."
_OTHERS = "The same range, if other judges of this kind were asked."
_ELO = "400 Elo points are a factor of ten in the odds of a win."


def html_page(reports: Sequence[Report], provenance: Provenance | None = None) -> str:
    """Return the page of these campaigns, in this order. `provenance` says where they come from."""
    several = len(reports) > 1
    names = [board_title(report.leaderboard) for report in reports]
    kind = "leaderboards" if any(report.leaderboard.category for report in reports) else "campaigns"
    title = f"{len(names)} {kind}" if several else "".join(names) or "No campaign"
    links = "".join(f'<a href="#c{k}">{escape(name)}</a>' for k, name in enumerate(names))
    heading = f"<h1>{title}</h1><nav>{links}</nav>" if several else ""
    sections = "".join(_section(report, k, "h2" if several else "h1") for k, report in enumerate(reports))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}: ranking</title>\n"
        f"<style>{_STYLE}{html_table.STYLE}{html_heatmap.STYLE}</style>\n</head>\n"
        f"<body>\n<main>{heading}{sections}{_terms(reports)}{_footer(provenance)}</main>\n</body>\n</html>\n"
    )


def _section(report: Report, number: int, heading: str) -> str:
    heat = "" if report.effects else html_heatmap.heat_map_table(report)  # it is that of the board without control
    head_to_head = f'<h3>Head to head</h3><div class="judgestream">{heat}</div>' if heat else ""
    return (
        f'<section id="c{number}"><{heading}>{escape(board_title(report.leaderboard))}</{heading}>'
        f'<p class="about">{escape(report.about)}</p>'
        f'<div class="judgestream">{html_table.leaderboard_table(report.leaderboard)}'
        f"{html_table.leaderboard_notes(report.leaderboard)}</div>"
        f"{html_table.effects_table(report.effects) if report.effects else ''}{head_to_head}</section>"
    )


def _terms(reports: Sequence[Report]) -> str:
    """Explain the words of the tables."""
    boards = [report.leaderboard for report in reports]
    terms = _TERMS | ({"Others": _OTHERS} if any(has_judge_ranges(board.rows) for board in boards) else {})
    terms |= {"Head to head": _HEAD_TO_HEAD} if any(report.head_to_head()[1].any() for report in reports) else {}
    terms |= {"Elo": _ELO} if any(board.scale == "elo" for board in boards) else {}
    items = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in terms.items())
    return f'<section><h2>What the words mean</h2><dl class="note">{items}</dl></section>'


def _footer(provenance: Provenance | None) -> str:
    return f'<footer class="note">{provenance.as_html()}</footer>' if provenance else ""
