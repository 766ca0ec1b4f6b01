"""A section of the page: an experiment on a log, what the paper published, and what is to be said of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from streams.lab.experiments import Experiment, Result, Table, experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Section:
    """What the page tells of one experiment.

    `tables` puts the published numbers, from `reproduction/published`, beside ours; `text` says what they show, and
    honestly where they differ or what was not public. Both are made from the results alone, so that the page is true
    of any run. `options` are those of the whole reproduction, which has half an hour on two cores for all sections.
    """

    name: str  # of the files in docs/reproduction
    title: str
    paper: str  # a key of PAPERS
    experiment: str
    file: str  # in the folder of the data
    campaigns: tuple[str, ...] = ()  # of the file; none: all
    options: Mapping[str, object] = field(default_factory=dict)
    tables: Callable[[Sequence[Result]], list[Table]]
    text: Callable[[Sequence[Result]], str]
    caption: str = ""  # of the figure; without one there is none

    def prepared(self) -> Experiment:
        """Give the experiment with its options."""
        return experiment(self.experiment, self.options)


def published(paper: str) -> dict[str, Any]:
    """Read what a paper published, as it was copied out of it."""
    found: dict[str, Any] = msgspec.json.decode((HERE / "published" / f"{paper}.json").read_bytes())
    return found
