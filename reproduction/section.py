"""A section of the page: an experiment on a log, the published numbers, and a text about both."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reproduction.papers import cite
from streams.lab.experiments import Estimate, Experiment, Result, ResultTable, experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reproduction.claims import Claim

HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Section:
    """The section of one experiment.

    `claims` are the statements of the paper with their verdicts. `tables` shows the published numbers, from
    `reproduction/published`, beside ours. `text` says what was done differently. All are computed from the results, so
    that the page is correct for any run.
    `options` are chosen so that all sections together take half an hour on two cores.
    """

    name: str  # name of the files in results/ and figures/
    title: str
    paper: str  # a key of PAPERS
    experiment: str
    file: str  # in the folder of the public logs
    campaigns: tuple[str, ...] = ()  # campaigns of the file; empty for all
    shared_ties: bool = True  # systems with the same output count as tied, as in the official procedure
    options: Mapping[str, object] = field(default_factory=dict)
    tables: Callable[[Sequence[Result]], list[ResultTable]]
    text: Callable[[Sequence[Result]], str]
    claims: Callable[[Sequence[Result]], Sequence[Claim]] = lambda _: ()  # statements of the paper
    caption: str = ""  # of the figure; empty for no figure

    def create_experiment(self) -> Experiment:
        """Return the experiment with its options."""
        return experiment(self.experiment, self.options)


def paired_difference(ours: Sequence[Result], theirs: Sequence[Result], measure: str) -> Estimate:
    """Estimate the difference of two groups in a measure, paired by repeat."""

    def by_repeat(results: Sequence[Result]) -> dict[tuple[str, int], float]:
        return {(one.cell["campaign"], one.cell["repeat"]): one.measured[measure] for one in results}

    first, second = by_repeat(ours), by_repeat(theirs)
    return Estimate.of(first[key] - second[key] for key in first if key in second)


def fill_text(name: str, **values: str) -> str:
    """Return a text of `reproduction/texts`, with values in place of the names in braces, and with its sources."""
    return cite((HERE / "texts" / f"{name}.md").read_text()).format(**values)
