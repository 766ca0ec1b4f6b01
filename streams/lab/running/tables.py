"""Results of experiments: means with standard errors, in tables for a terminal, a page or a program."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.lab.running.base import Result


class Estimate(msgspec.Struct, frozen=True):
    """A mean over repeats, its standard error (None for a single repeat), and the number of repeats."""

    mean: float
    error: float | None
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Estimate:
        """Return the mean of values with its standard error.

        >>> Estimate.of([1.0, 2.0, 3.0])
        Estimate(mean=2.0, error=0.5773502691896258, count=3)
        """
        array = np.array(list(values), np.float64)
        error = float(array.std(ddof=1)) / sqrt(len(array)) if len(array) > 1 else None
        return cls(float(array.mean()), error, len(array))

    def text(self, digits: int = 3) -> str:
        """Return the estimate as the papers print it, without the zero before the decimal point.

        >>> Estimate(0.4871, 0.0012, 20).text(), Estimate(-2.5, None, 1).text(1)
        ('.487 ± .001', '-2.5')
        """
        return decimal(self.mean, digits) + ("" if self.error is None else f" ± {decimal(self.error, digits)}")


Value = str | int | float | Estimate | None


class ResultTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table. The first `labels` columns name the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    digits: int = 3
    labels: int = 1

    def texts(self) -> list[tuple[str, ...]]:
        """Return the cells as text.

        >>> ResultTable(title="", columns=("size", "r"), rows=((6400, Estimate(0.98, 0.01, 5)), (800, None))).texts()
        [('6,400', '.980 ± .010'), ('800', '')]
        """
        return [tuple(format_value(value, self.digits) for value in row) for row in self.rows]

    def markdown(self) -> str:
        """Return the table in Markdown, without its title."""
        head = [
            f"| {' | '.join(self.columns)} |",
            "|" + "".join("---|" if k < self.labels else "---:|" for k in range(len(self.columns))),
        ]
        return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in self.texts())]) + "\n"


def format_value(value: Value, digits: int) -> str:
    """Return one cell as text."""
    if isinstance(value, Estimate):
        return value.text(digits)
    if isinstance(value, float):
        return decimal(value, digits)
    return "" if value is None else f"{value:,}" if isinstance(value, int) else value


def decimal(value: float, digits: int) -> str:
    """Return a number without the zero before its decimal point.

    >>> decimal(0.25, 2), decimal(-0.25, 2), decimal(10.25, 1), decimal(float("nan"), 2)
    ('.25', '-.25', '10.2', '–')
    """
    if value != value:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def group_by(results: Sequence[Result], *names: str) -> dict[Any, list[Result]]:
    """Group results by the values of their cells under these names, in order of first appearance.

    >>> from streams.lab.running.base import Result
    >>> list(group_by([Result({"size": 2, "model": "m"}, {})], "size", "model"))
    [(2, 'm')]
    """
    groups: dict[Any, list[Result]] = {}
    for result in results:
        values = tuple(result.cell[name] for name in names)
        groups.setdefault(values if len(names) > 1 else values[0], []).append(result)
    return groups


def remove_repeat_effects(results: Sequence[Result], measure: str) -> list[Result]:
    """Remove from a measure the effect of a repeat on all its cells, which share one test set (Cousineau 2005).

    The means stay the same. The standard errors become those of the differences between cells.
    """
    has = [one for one in results if measure in one.measured]
    everywhere = float(np.mean([one.measured[measure] for one in has]))
    adjusted = []
    for some in group_by(has, "campaign", "repeat").values():
        away = float(np.mean([one.measured[measure] for one in some])) - everywhere
        adjusted += [
            msgspec.structs.replace(one, measured=one.measured | {measure: one.measured[measure] - away})
            for one in some
        ]
    return adjusted


def estimate_by(results: Sequence[Result], measure: str, by: str) -> dict[Any, Estimate]:
    """Return the estimate of a measure for each value of the cells under a name."""
    return {
        value: Estimate.of(one.measured[measure] for one in some)
        for value, some in group_by([one for one in results if measure in one.measured], by).items()
    }
