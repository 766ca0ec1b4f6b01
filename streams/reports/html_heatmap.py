"""Draw the head to head as an HTML table: how often one system was preferred to another, as colours and numbers."""

from __future__ import annotations

from html import escape
from math import isnan
from typing import TYPE_CHECKING

from streams.reports.html_table import BLUE, ORANGE, name_of
from streams.reports.report import shorten_names

if TYPE_CHECKING:
    from streams.reports.report import Report

MOST_SYSTEMS = 80  # a larger table is slow in a browser
LONGEST_NAME = 40
MOST_NUMBERS = 25  # systems; in a larger table the cells are too small for numbers

STYLE = f"""
.judgestream .scroll {{ overflow-x: auto; }}
.judgestream .heat th {{ font-size: .85em; }}
.judgestream .heat thead th {{ text-align: center; opacity: .65; padding: .2em; }}
.judgestream .heat tbody th {{ position: sticky; left: 0; max-width: 26em; overflow: hidden; text-overflow: ellipsis;
  background: var(--page, none); padding: 0 .6em 0 0; }}
.judgestream .heat tbody th span {{ display: inline-block; min-width: 2.2em; padding-right: .6em; text-align: right;
  opacity: .65; box-sizing: border-box; }}
.judgestream .heat td {{ width: 2.6em; min-width: 2.6em; height: 2em; padding: 0; text-align: center; font-size: .8em;
  border: 1px solid var(--page, transparent); }}
.judgestream .small td {{ width: .9em; min-width: .9em; height: .9em; }}
.judgestream .small :is(thead, tbody) th {{ font-size: .65em; line-height: 1; }}
.judgestream .small thead th + th {{ max-width: 0; overflow: visible; direction: rtl; padding: .2em 0; }}
.judgestream .heat td.none {{ background: color-mix(in srgb, currentColor 7%, transparent); }}
.judgestream .nowrap {{ white-space: nowrap; }}
.judgestream .legend {{ display: inline-block; width: 7em; height: .8em; vertical-align: -.05em;
  background: linear-gradient(90deg, rgb({ORANGE} / .85), transparent, rgb({BLUE} / .85)); }}
@container (max-width: 40rem) {{ .judgestream .heat tbody th {{ max-width: 8.5em; }} }}
"""


def heat_map_table(report: Report) -> str:
    """Return the table, with rows and columns in the order of rank. Return nothing if no two systems met."""
    share, met = report.head_to_head()
    if not met.any():
        return ""
    systems = [row.system for row in report.leaderboard.rows][:MOST_SYSTEMS]
    short = shorten_names([row.system for row in report.leaderboard.rows], LONGEST_NAME)
    numbers = len(systems) <= MOST_NUMBERS
    places = range(len(systems))
    head = "".join(f"<th>{place + 1 if numbers or place % 5 == 4 else ''}</th>" for place in places)
    body = ""
    for i, system in enumerate(systems):
        cells = (_cell(float(share[i, j]), int(met[i, j]), system, systems[j], numbers=numbers) for j in places)
        name = f'<th scope="row"><span>{i + 1}</span>{name_of(system, short[system])}</th>'
        body += f"<tr>{name}{''.join(cells)}</tr>"
    left_out = len(report.leaderboard.rows) - len(systems)
    more = f" The first {len(systems)} systems; {left_out:,} more are left out." if left_out else ""
    return (
        f'<div class="scroll"><table class="heat{"" if numbers else " small"}"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        '<p class="note">How often the system of the row was preferred to the system of the column, in percent, '
        f'ties ignored: <span class="nowrap">0 <span class="legend"></span> 100</span>. '
        f"Columns are ranks; grey: never met, or only tied.{more}</p>"
    )


def _cell(share: float, met: int, system: str, opponent: str, *, numbers: bool) -> str:
    if isnan(share):
        title = f"{system} and {opponent}: {met:,} ties" if met else f"{system} and {opponent} never met"
        return '<td class="none"></td>' if system == opponent else f'<td class="none" title="{escape(title)}"></td>'
    percent = round(100 * share)
    colour = BLUE if share >= 0.5 else ORANGE
    title = f"{system} against {opponent}: {percent} % without ties, {met:,} comparisons"
    strength = min(0.85, abs(share - 0.5) * 2)
    style = f"background:rgb({colour} / {strength:.2f})"
    return f'<td style="{style}" title="{escape(title)}">{percent if numbers else ""}</td>'
