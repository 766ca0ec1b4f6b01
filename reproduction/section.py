"""A section of the page: an experiment on a log, what the paper published, and what is to be said of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from streams.lab.experiments import Estimate, Experiment, Result, ResultTable, experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path(__file__).parent
SURE = 2.0  # standard errors, beyond which a difference is said to be one


@dataclass(frozen=True, kw_only=True)
class Section:
    """What the page tells of one experiment.

    `tables` puts the published numbers, from `reproduction/published`, beside ours; `text` says what they show, and
    honestly where they differ or what was not public. Both are made from the results alone, so that the page is true
    of any run. `options` are those of the whole reproduction, which has half an hour on two cores for all sections.
    """

    name: str  # of the files in results/ and figures/
    title: str
    paper: str  # a key of PAPERS
    experiment: str
    file: str  # in the folder of the data
    campaigns: tuple[str, ...] = ()  # of the file; none: all
    shared_ties: bool = True  # whether systems with one output count as tied, as the official procedure has it
    options: Mapping[str, object] = field(default_factory=dict)
    tables: Callable[[Sequence[Result]], list[ResultTable]]
    text: Callable[[Sequence[Result]], str]
    caption: str = ""  # of the figure; without one there is none

    def prepared(self) -> Experiment:
        """Give the experiment with its options."""
        return experiment(self.experiment, self.options)


def published(paper: str) -> dict[str, Any]:
    """Read what a paper published, as it was copied out of it."""
    found: dict[str, Any] = msgspec.json.decode((HERE / "published" / f"{paper}.json").read_bytes())
    return found


def paired(ours: Sequence[Result], theirs: Sequence[Result], measure: str) -> Estimate:
    """Estimate how far two groups differ in a measure, repeat by repeat."""

    def by_repeat(results: Sequence[Result]) -> dict[tuple[str, int], float]:
        return {(one.cell["campaign"], one.cell["repeat"]): one.measured[measure] for one in results}

    first, second = by_repeat(ours), by_repeat(theirs)
    return Estimate.of(first[key] - second[key] for key in first if key in second)


def signed(difference: Estimate, digits: int = 4) -> str:
    """Write a difference with its sign and error."""
    text = difference.text(digits)
    return text if difference.mean < 0 else f"+{text}"


def verdict(difference: Estimate) -> str:
    """Say whether a difference is above zero, below it, or not to be told."""
    error = difference.error or 0.0
    if abs(difference.mean) <= SURE * error:
        return "not to be told"
    return "yes" if difference.mean > 0 else "no"


def told(name: str, **values: str) -> str:
    """Give the text of `reproduction/texts` under a name, with values put where it names them in braces."""
    return (HERE / "texts" / f"{name}.md").read_text().format(**values)
