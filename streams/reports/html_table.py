"""Draw a leaderboard as an HTML table with whiskers, for a page and for a notebook. It has no script.

Apart from blue and orange it uses the colour of the text around it, so that it is readable on light and on dark.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from streams.core.ranking.ranges import Z_95
from streams.reports.effects import HEADINGS, NOTE, describe_moves, describe_unused, effect_rows
from streams.reports.notes import APART, describe_trouble, legend
from streams.reports.report import short_names
from streams.reports.score_axis import ScoreAxis, ScoreText, has_judge_ranges, judge_range, rank_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from streams.reports.effects import ControlledRanking
    from streams.wire.events import Leaderboard, Row

BLUE, ORANGE = "0 135 215", "215 95 0"

STYLE = f"""
.judgestream {{ --odd: rgb({BLUE}); --even: rgb({ORANGE}); container-type: inline-size;
  font-variant-numeric: tabular-nums; }}
.judgestream table {{ border-collapse: collapse; border-spacing: 0; background: none; color: inherit; }}
.judgestream :is(td, th) {{ padding: .28em .6em; text-align: left; font-weight: normal; border: 0;
  background: none; color: inherit; white-space: nowrap; }}
.judgestream bdi {{ unicode-bidi: isolate; }}
.judgestream .board {{ width: 100%; }}
.judgestream .board thead th {{ opacity: .65; font-size: .85em; vertical-align: bottom; }}
.judgestream .board tbody {{ border-top: 1px solid color-mix(in srgb, currentColor 45%, transparent); }}
.judgestream .board tbody.dashed {{ border-top-style: dashed; }}
.judgestream .board tbody.apart {{ border-top: 0; }}
.judgestream .board tbody.apart th {{ padding-top: 1.6em; opacity: .65; font-size: .85em; }}
.judgestream .board .number {{ text-align: right; }}
.judgestream .board tbody .rank {{ font-weight: 600; }}
.judgestream .board .system {{ white-space: normal; overflow-wrap: break-word; }}
.judgestream .board tbody .system {{ font-weight: 600; }}
.judgestream .board .plot {{ width: 32%; padding: 0 .6em; }}
.judgestream .board thead .plot {{ padding-bottom: .28em; }}
.judgestream .board .faint {{ opacity: .65; }}
.judgestream .board svg {{ display: block; width: 100%; height: 1.5em; overflow: visible; fill: none; }}
.judgestream .board line {{ vector-effect: non-scaling-stroke; stroke-linecap: round; stroke: var(--odd); }}
.judgestream .board .even line {{ stroke: var(--even); }}
.judgestream .board line.wide {{ stroke-width: 1.5px; }}
.judgestream .board line.near {{ stroke-width: 4px; }}
.judgestream .board line.dot {{ stroke-width: 9px; }}
.judgestream .board line.base {{ stroke: currentColor; opacity: .12; stroke-width: 1px; }}
.judgestream .board line.zero {{ stroke: currentColor; opacity: .35; stroke-width: 1px; stroke-dasharray: 2 3; }}
.judgestream .notes {{ margin: .8em 0 0; font-size: .85em; opacity: .75; max-width: 54em; }}
.judgestream ul.notes {{ padding-left: 1.2em; opacity: 1; }}
.judgestream .notes .rule {{ display: inline-block; width: 1.8em; vertical-align: .25em;
  border-top: 1px solid currentColor; }}
.judgestream .notes .dashed {{ border-top-style: dashed; }}
.judgestream .ticks {{ position: relative; display: flex; justify-content: space-between; }}
.judgestream .ticks .inside {{ position: absolute; transform: translateX(-50%); }}
@container (max-width: 40rem) {{
  .judgestream .board, .judgestream .board :is(thead, tbody) {{ display: block; }}
  .judgestream .board tr {{ display: grid; padding: .35em 0;
    grid-template: "rank system score" "range plot plot" "others plot plot" / 3.4em 1fr auto; }}
  .judgestream .board :is(td, th) {{ padding: .1em .4em; }}
  .judgestream .board thead tr {{ padding: 0; }}
  .judgestream .board thead th:not(.plot), .judgestream .board .judgments {{ display: none; }}
  .judgestream .board .rank {{ grid-area: rank; }}
  .judgestream .board .range {{ grid-area: range; opacity: .65; text-align: right; }}
  .judgestream .board .others {{ grid-area: others; opacity: .65; text-align: right; }}
  .judgestream .board tbody.apart tr {{ display: block; }}
  .judgestream .board .system {{ grid-area: system; }}
  .judgestream .board .score {{ grid-area: score; }}
  .judgestream .board .score .faint {{ display: none; }}
  .judgestream .board tbody .system {{ overflow: hidden; }}
  .judgestream .board .plot {{ grid-area: plot; width: auto; }}
}}
"""


def leaderboard_table(board: Leaderboard) -> str:
    """Return the table of one leaderboard. It belongs inside an element of the class `judgestream`, with STYLE."""
    rows = board.rows
    style = _RowStyle(ScoreAxis.of(board), ScoreText.of(board), short_names([row.system for row in rows]), rows)
    bodies, island = "", 1
    for key, mine in groupby(rows, key=lambda row: (row.island, row.cluster)):
        cluster = list(mine)
        if key[0] != island:
            bodies += f'<tbody class="apart"><tr><th colspan="7">{APART}</th></tr></tbody>'
        kinds = "odd" if key[1] % 2 else "even"
        kinds += " dashed" * (cluster[0].line_above == "judgments")
        bodies += f'<tbody class="{kinds}">{"".join(map(style.line, cluster))}</tbody>'
        island = key[0]
    others = '<th class="others">others</th>' if style.others else ""
    return (
        f'<table class="board"><thead><tr><th class="rank number">rank</th><th class="range">range</th>{others}'
        f'<th class="system">system</th><th class="plot">{_ticks(style.axis)}</th>'
        f'<th class="score number">{style.form.heading} ± dev.</th><th class="judgments number">judgments</th></tr>'
        f"</thead>{bodies}</table>"
    )


def leaderboard_notes(board: Leaderboard) -> str:
    """Return the legend of a table, and the list of what to be careful about."""
    text = legend(board, solid='<span class="rule"></span>', dashed='<span class="rule dashed"></span>')
    trouble = "".join(f"<li>{escape(sentence)}</li>" for sentence in describe_trouble(board))
    return (f'<p class="notes">{text}</p>' if text else "") + (f'<ul class="notes">{trouble}</ul>' if trouble else "")


def effects_table(found: ControlledRanking) -> str:
    """Return the coefficients of the controlled features as a table, and the ranks that change."""
    rows = effect_rows(found.features, found.leaderboard.scale)
    moves = describe_moves(found.moved, len(found.leaderboard.rows))
    sentences = "".join(
        f'<p class="notes">{escape(text)}</p>' for text in (*describe_unused(found.unused), moves, NOTE)
    )
    table = plain_table(HEADINGS, rows) if rows else ""
    return f'<h3>Controlled features</h3><div class="judgestream">{table}{sentences}</div>'


def fragment(blocks: Iterable[str]) -> str:
    """Return blocks of HTML with their style, to be shown inside other HTML, for example in a notebook."""
    return f'<div class="judgestream"><style>{STYLE}</style>{"".join(blocks)}</div>'


def plain_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a plain table.

    >>> plain_table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def name_of(system: str, short: str) -> str:
    """Return the short name of a system. The whole name is its tooltip."""
    title = f' title="{escape(system)}"' if short != system else ""
    return f"<bdi{title}>{escape(short)}</bdi>"


class _RowStyle:
    """How the rows of one table are drawn."""

    def __init__(self, axis: ScoreAxis, form: ScoreText, names: Mapping[str, str], rows: Sequence[Row]) -> None:
        self.axis, self.form, self.others = axis, form, has_judge_ranges(rows)
        self._names = names

    def line(self, row: Row) -> str:
        """Return a row of the table."""
        others = f'<td class="others faint">{judge_range(row)}</td>' if self.others else ""
        return (
            f'<tr><td class="rank number">{row.rank}</td>'
            f'<td class="range">{rank_range(row.rank_low, row.rank_high)}</td>{others}'
            f'<th class="system" scope="row">{name_of(row.system, self._names[row.system])}</th>'
            f'<td class="plot">{_whiskers(row, self.axis)}</td>'
            f'<td class="score number">{self.form.score(row)} <span class="faint">± {self.form.deviation(row)}</span>'
            f'</td><td class="judgments number">{row.judgments:,}</td></tr>'
        )


def _whiskers(row: Row, axis: ScoreAxis) -> str:
    """Draw a score as the terminal does: a dot, a thick line of one deviation and a thin line of 95 %.

    The dot is a line without length. Its ends stay round when the picture is stretched.
    """
    zero = axis.share(axis.origin)
    lines = [_stroke("base", 0.0, 1.0, 5, 5), *([_stroke("zero", zero, zero, 0, 10)] if 0 <= zero <= 1 else [])]
    for kind, reach in (("wide", Z_95), ("near", 1.0), ("dot", 0.0)):
        ends = (axis.share(row.score - reach * row.deviation), axis.share(row.score + reach * row.deviation))
        lines.append(_stroke(kind, *ends, 5, 5))
    return f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{"".join(lines)}</svg>'


def _stroke(kind: str, x1: float, x2: float, y1: int, y2: int) -> str:
    return f'<line class="{kind}" x1="{100 * x1:.2f}" x2="{100 * x2:.2f}" y1="{y1}" y2="{y2}"/>'


def _ticks(axis: ScoreAxis) -> str:
    zero = axis.share(axis.origin)
    label = axis.label(axis.origin)
    inside = f'<span class="inside" style="left:{100 * zero:.2f}%">{label}</span>' if 0.15 < zero < 0.85 else ""
    return f'<span class="ticks"><span>{axis.label(axis.low)}</span><span>{axis.label(axis.high)}</span>{inside}</span>'
