"""Control items of a log for a ranking: read from a file, and the judges who fail them left out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from streams.agreement.control_rows import CampaignControls, ControlItem, Controls, control_results
from streams.agreement.controls import FEWEST, MARGIN, PASSING
from streams.errors import FormatError, ParameterError, RecordError
from streams.formats import RowError
from streams.formats.input.sources import open_source
from streams.formats.input.spreadsheets import unescape_formula
from streams.formats.input.tables import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from os import PathLike

    from streams.agreement.agreement_rows import Shared
    from streams.formats import LogSelection
    from streams.offline.log_input import LogInput
    from streams.wire.events import Judgment

COLUMNS = ("segment", "better", "worse")


def read_controls(file: str | PathLike[str]) -> tuple[ControlItem, ...]:
    """Read a CSV of controls with the columns segment, better and worse, and optionally campaign and made_by."""
    found: dict[tuple[str | None, str, frozenset[str]], ControlItem] = {}
    with open_source(Path(file)) as source:
        table = Table(source, required=COLUMNS, kind="a table of controls")
        for line, cells in table.rows():
            if isinstance(cells, RecordError):
                raise RowError(source.name, line, cells)
            row = {name: unescape_formula(cells[place]) for name, place in table.columns.items()}
            segment, better, worse = (row[name] or "" for name in COLUMNS)
            if not better or not worse or better == worse:
                problem = RecordError("invalid_value", "a control needs two different systems", field="better")
                raise RowError(source.name, line, problem)
            item = ControlItem(
                campaign=row.get("campaign"), segment=segment, better=better, worse=worse, made_by=row.get("made_by")
            )
            if found.setdefault((item.campaign, segment, frozenset((better, worse))), item).better != better:
                reason = f"segment {segment!r} has {better!r} as better and as worse than {worse!r}"
                raise RowError(source.name, line, RecordError("invalid_value", reason, field="better"))
    if not found:
        raise FormatError(f"{file}: there is no control in it; write one segment, better and worse per row")
    return tuple(found.values())


def choose_controls(text: str, *, margin: int = MARGIN, fewest: int = FEWEST, threshold: float = PASSING) -> Controls:
    """Return the controls of `--controls`: made by a source, by everybody, or given in a file as @FILE."""
    if text.startswith("@"):
        return Controls(items=read_controls(text[1:]), fewest=fewest, threshold=threshold)
    return Controls(makers=text, margin=margin, fewest=fewest, threshold=threshold)


def check_rest(results: Iterable[CampaignControls]) -> None:
    """Raise ParameterError if nothing of a campaign would be left without the judges who fail."""
    for result in results:
        if result.left_out == result.judgments:
            raise ParameterError(
                f"campaign {result.campaign!r}: every judge fails the controls, so no judgment would be left; "
                "lower the threshold, or choose other controls"
            )


@dataclass(frozen=True, kw_only=True)
class ControlledLog:
    """The judgments of a log, and the results of its judges on controls."""

    judgments: Sequence[Judgment]
    results: tuple[CampaignControls, ...]
    left_out: int

    @classmethod
    def of(
        cls,
        batches: Iterable[Sequence[Judgment]],
        controls: Controls,
        *,
        shared: Shared,
        selection: LogSelection | None = None,
        campaigns: Collection[str] = (),
    ) -> ControlledLog:
        """Read a whole log, or the selected part of it, and test its judges."""
        judgments = list(chain.from_iterable(selection.batches(batches) if selection else batches))
        if selection:
            judgments = [each for each in judgments if not selection.changes.covers(each)]
        logs: dict[str, dict[str, Judgment]] = {}
        for judgment in judgments:
            if not campaigns or judgment.campaign in campaigns:
                logs.setdefault(judgment.campaign, {}).setdefault(judgment.id, judgment)
        found = {name: list(log.values()) for name, log in logs.items()}
        results = tuple(control_results(found, shared, controls).values())
        check_rest(results)
        return cls(judgments=judgments, results=results, left_out=selection.read - selection.kept if selection else 0)

    @classmethod
    def read(
        cls,
        log: LogInput,
        controls: str | Controls,
        *,
        selection: LogSelection | None = None,
        campaigns: Collection[str] = (),
    ) -> ControlledLog:
        """Read a log and test its judges. `controls` is as in `--controls`."""
        shared: dict[str, tuple[tuple[str, ...], ...]] = {}
        chosen = choose_controls(controls) if isinstance(controls, str) else controls
        return cls.of(log.batches(shared), chosen, shared=shared, selection=selection, campaigns=campaigns)

    def passing(self) -> list[Judgment]:
        """Return the judgments of the judges who do not fail."""
        failing = failing_judges({result.campaign: result for result in self.results})
        return [each for each in self.judgments if (each.campaign, each.judge) not in failing]


def failing_judges(results: Mapping[str, CampaignControls]) -> frozenset[tuple[str, str]]:
    """Return the campaign and the judge of each failure."""
    return frozenset((name, each.judge) for name, result in results.items() for each in result.failing)
