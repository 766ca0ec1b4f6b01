"""Figures as tables: rows of text for a terminal, Markdown for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.bench.figures import Figure, Section

HEADINGS = ("", "median", "lowest to highest", "goal", "")
VERDICTS = {True: "met", False: "**missed**", None: ""}


def format_number(value: float) -> str:
    """Return a number with three digits, or with all digits before the point.

    >>> [format_number(each) for each in (0.01234, 3.14159, 42.0, 4217.3, 0.0)]
    ['0.0123', '3.14', '42', '4,217', '0']
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def format_goal(figure: Figure) -> str:
    """Return the goal of a figure in words, or nothing."""
    if figure.at_most is not None:
        return f"at most {format_number(figure.at_most)}"
    return f"at least {format_number(figure.at_least)}" if figure.at_least is not None else ""


def rows(figures: Iterable[Figure]) -> list[tuple[str, str, str, str, str]]:
    """Return the cells of each figure: name, median, lowest to highest, goal, whether it is met."""
    return [
        (
            _title(each),
            f"{format_number(each.median)} {each.unit}".strip(),
            " to ".join(map(format_number, each.spread)) if len(each.values) > 1 else "one run",
            format_goal(each),
            VERDICTS[each.is_met],
        )
        for each in figures
    ]


def _title(figure: Figure) -> str:
    size = f", {figure.size:,.0f}" if figure.size is not None else ""
    return f"{figure.name}{size}" + (f" ({figure.note})" if figure.note else "")


def markdown_table(headings: Iterable[str], body: Iterable[Iterable[str]], *, right: int = 0) -> str:
    r"""Return a Markdown table. The cells of the last `right` columns are aligned to the right.

    >>> print(markdown_table(("a", "b"), [("1|2", "3")], right=1))
    | a | b |
    |---|--:|
    | 1\|2 | 3 |
    """
    names = list(headings)
    lines = [names, *map(list, body)]
    texts = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    rule = "|" + "".join("--:|" if place >= len(names) - right else "---|" for place in range(len(names)))
    return "\n".join([texts[0], rule, *texts[1:]])


def section_table(section: Section) -> str:
    """Return the figures of a section as a Markdown table, with the machine and the time below."""
    quick = " Short run (`--quick`)." if section.quick else ""
    origin = f"{section.machine.describe()}; {section.measured_at}.{quick}"
    return f"{markdown_table(HEADINGS, rows(section.figures))}\n\n{origin}"
