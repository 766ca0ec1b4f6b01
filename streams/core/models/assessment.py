"""Direct assessment: scores of single outputs, made comparable between judges."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from msgspec import Meta

from streams.core.kernels.elementary import log2
from streams.core.kernels.normal import upper_tail
from streams.core.models.base import Model, Outcome, Parameters, SettingProblem
from streams.core.models.card import ModelCard
from streams.core.models.score_cells import CellSums, RepeatedScores, ScoreCells
from streams.wire.limits import MAX_SCORE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.core.models.base import Axis, Cell, Floats, Ints, JudgmentBatch, Kind
    from streams.wire.events import CampaignSettings

UNSEEN = 2.0  # the deviation of a system without a judgment, in units of that with one segment: one bit less is known


class AssessmentParameters(Parameters, frozen=True, kw_only=True):
    """The scale, standardised per judge (z) or as given (raw), and the score margin within which two systems tie."""

    scale: Annotated[Literal["z", "raw"], Meta(description="Standardise scores per judge, or leave them as given.")] = (
        "z"
    )
    margin: Annotated[
        float, Meta(ge=0, le=2 * MAX_SCORE, description="Difference of scores within which systems tie.")
    ] = 0.0


class Assessment(Model):
    """The mean over a system's segments of the segment's mean z = (x - mean_k) / deviation_k, with k the judge.

    A judge's mean and (n - 1) deviation are over all scores of the judge so far. When they change, every z of the judge
    changes, so the scores always equal those computed from the whole log (Graham, Baldwin, Moffat and Zobel 2013). A
    judge with one score, or with equal scores only, has z = 0. A system's deviation is the standard error over its n
    segments, sqrt((sum of squares + spread²) / n / n). The spread² is one prior observation: without it, two segments
    with equal scores would have no error at all. The board has ranges of its own, from `score_cells`.

    The state has a count and a sum for every distinct (system, segment, judge), a cell. It grows with the number of
    cells, not only with systems, judges and segments. A cell with several scores also has their sum of squares, and
    what was rounded off both, so that the board does not depend on the order of the scores. On the shared segment each
    score counts as the only one on its segment.

    >>> model = Assessment(AssessmentParameters(scale="raw"))
    >>> model.grow(systems=2, judges=1, segments=1)
    >>> model.load_cell((1, 0, 0), (1.0, 75.0))
    >>> model.scores()[0].tolist()
    [50.0, 75.0]
    """

    name: ClassVar[str] = "assessment"
    card: ClassVar[ModelCard] = ModelCard(
        assumes="Judges score single outputs. Their scales differ in mean and deviation (z), or not at all (raw).",
        cost="one pass; memory for each distinct system, segment and judge",
        choose="For direct assessment: judgments that have a score instead of ranks.",
        reference="Graham et al. 2013",
    )
    ranges: ClassVar[tuple[str, ...]] = ("groups", "posterior")
    kind: ClassVar[Kind] = "scores"
    parameters_type: ClassVar[type[Parameters]] = AssessmentParameters
    widths: ClassVar[Mapping[Axis, int]] = {"systems": 0, "judges": 3, "segments": 0}
    cell_width: ClassVar[int] = 2
    moves_all: ClassVar[bool] = True
    parameters: AssessmentParameters

    def __init__(self, parameters: Parameters, *, budget: int | None = None) -> None:
        super().__init__(parameters, budget=budget)
        self._systems = 0
        self._judges: list[tuple[float, float, float]] = []
        self._sums = CellSums()
        self._alone: dict[Cell, tuple[float, RepeatedScores]] = {}  # number and sums on the shared segment
        self._order: _Order | None = None
        self._result: _Result | None = None
        self._result_range = self.score_range

    def grow(self, systems: int, judges: int, segments: int) -> None:  # noqa: ARG002 - a segment has no row of its own
        """Make room for this many systems and judges."""
        if systems > self._systems:
            self._systems, self._result = systems, None
        self._judges += [(0.0, 0.0, 0.0)] * (judges - len(self._judges))

    def apply(self, batch: JudgmentBatch) -> None:
        """Add scores, in order, to the judge's mean and squares (Welford's recurrence) and to the cell."""
        self._result = None
        cells = zip(batch.systems.tolist(), batch.segments.tolist(), batch.judges.tolist(), strict=True)
        for cell, score in zip(cells, batch.scores.tolist(), strict=True):
            count, mean, squares = self._judges[cell[2]]
            count, off = count + 1.0, score - mean
            mean += off / count
            self._judges[cell[2]] = count, mean, squares + off * (score - mean)
            if cell[1] == self.shared_segment:
                alone = self._alone.get(cell)
                self._alone[cell] = (
                    (1.0, RepeatedScores.of(score)) if alone is None else (alone[0] + 1.0, alone[1].add(score))
                )
                continue
            self._sums.add(cell, score)

    def predict(self, a: int, b: int) -> Outcome:
        """Split the normal distribution of the difference at -margin and margin."""
        mean, deviation = self.scores()
        difference = float(mean[a] - mean[b])
        spread = sqrt(float(deviation[a] * deviation[a] + deviation[b] * deviation[b]))
        win = upper_tail((self.parameters.margin - difference) / spread)
        loss = upper_tail((self.parameters.margin + difference) / spread)
        return Outcome(win, max(0.0, 1.0 - win - loss), loss)

    def information(self, a: int, b: int) -> float:
        """Return how far the two standard errors would narrow if each system got one more segment."""
        segments = self._results().segments
        return _narrowing(float(segments[a])) + _narrowing(float(segments[b]))

    def score_information(self, system: int, *, expected: int = 0) -> float:
        """Return how far one more segment would narrow the standard error, after `expected` more.

        A second score on a segment counts as a segment here, so that every score makes the next one worth less.
        """
        return _narrowing(float(self._results().counts[system]) + expected)

    def scores_per_segment(self, system: int) -> float:
        """Return the mean number of scores on the segments that were scored, or 1 if none was."""
        found = self._results()
        return float(found.counts[system] / found.segments[system]) if found.segments[system] else 1.0

    def segment_counts(self, system: int, segments: int) -> Ints:
        """Return the number of scores of a system on each segment."""
        order = self._sort_cells()
        first, last = np.searchsorted(order.outputs, np.searchsorted(order.systems, [system, system + 1]))
        counts, _ = self._sums.columns(order.places[first:last])
        on = order.segments[order.outputs[first:last]]
        return np.bincount(on, counts, minlength=segments).astype(np.int64)

    def check_settings(self, settings: CampaignSettings) -> SettingProblem | None:
        """Return a problem if the margin is wider than the range of the scores, which then all tie."""
        low, high = settings.score_range
        if self.parameters.scale == "raw" and self.parameters.margin > high - low:
            message = f"the margin {self.parameters.margin:g} is wider than `score_range`, {low:g} to {high:g}"
            return SettingProblem("parameters", message)
        return None

    def scores(self) -> tuple[Floats, Floats]:
        """Return the mean over segments and its standard error for each system."""
        found = self._results()
        return found.mean.copy(), found.deviation.copy()

    def score_cells(self) -> ScoreCells:
        """Return all scores by cell. The board is computed from them."""
        places, judge, output, system, segment = self._sort_cells()
        counts, totals = self._sums.columns(places)
        alone = sorted(self._alone)
        own, shared, by = np.array(alone, np.int64).reshape(-1, 3).T
        number = np.array([self._alone[cell][0] for cell in alone])
        single = np.array([self._alone[cell][1].total for cell in alone]) / number
        return ScoreCells(
            system=np.append(system[output], own),
            segment=np.append(segment[output], shared),
            judge=np.append(judge, by),
            output=np.append(output, len(system) + np.arange(len(alone))),
            count=np.append(counts, number),
            mean=np.append(totals / counts, single),
            within=np.append(
                self._sums.within(places), [self._alone[cell][1].within(self._alone[cell][0]) for cell in alone]
            ),
            segments=np.append(np.ones(len(places)), number),
            systems=self._systems,
            standardised=self.parameters.scale == "z",
            prior=self._prior(),
            unseen=UNSEEN * self._prior()[1],
        )

    def dump_row(self, axis: Axis, index: int) -> tuple[float, ...]:
        """Return the number of scores of a judge, their mean and the sum of squared differences from it."""
        return self._judges[index] if axis == "judges" else ()

    def load_row(self, axis: Axis, index: int, row: tuple[float, ...]) -> None:
        """Restore the row of a judge."""
        if axis == "judges":
            count, mean, squares = row
            self._judges[index] = count, mean, squares
            self._result = None

    def dump_cell(self, cell: Cell) -> tuple[float, ...]:
        """Return the number and the sum of the scores of a cell, and of several scores what `RepeatedScores` holds."""
        if cell[1] == self.shared_segment:
            count, sums = self._alone[cell]
            return (count, *sums)
        return self._sums.dump(cell)

    def load_cell(self, cell: Cell, row: tuple[float, ...]) -> None:
        """Restore a cell."""
        self._result = None
        if cell[1] == self.shared_segment:
            self._alone[cell] = row[0], RepeatedScores.load(row[1:])
        else:
            self._sums.load(cell, row)

    def judge_cells(self, judge: int) -> list[Cell]:
        """Return the cells that a judge has judged."""
        return [cell for cell in (*self._sums.places, *self._alone) if cell[2] == judge]

    def _results(self) -> _Result:
        """Return the present result."""
        if self._result is None or self._result_range != self.score_range:
            self._result, self._result_range = self._compute(), self.score_range
        return self._result

    def _compute(self) -> _Result:
        places, judges, outputs, systems, _ = self._sort_cells()
        counts, totals = self._sums.columns(places)
        shift, unit = self._scales()
        # An output is what a system produced for one segment. bincount adds in the order of the cells.
        z = np.bincount(outputs, (totals - counts * shift[judges]) * unit[judges])
        output_counts = np.bincount(outputs, counts)
        output_score = z / output_counts
        alone, alone_z, alone_squares = self._sum_alone(shift, unit)
        segments = np.bincount(systems, minlength=self._systems) + alone
        before, spread = self._prior()
        n = np.maximum(segments, 1.0)
        mean = (np.bincount(systems, output_score, self._systems) + alone_z) / n
        squares = np.bincount(systems, (output_score - mean[systems]) ** 2, self._systems)
        squares = squares + np.maximum(alone_squares - 2.0 * mean * alone_z + alone * mean * mean, 0.0)
        error = np.sqrt((squares + spread * spread) / n / n)
        return _Result(
            mean=np.where(segments, mean, before),
            deviation=np.where(segments, error, UNSEEN * spread),
            segments=segments,
            counts=np.bincount(systems, output_counts, self._systems) + alone,
        )

    def _sum_alone(self, shift: Floats, unit: Floats) -> Floats:
        """Return the number of each system's scores on the shared segment, the sum of their z and that of z²."""
        cells = sorted(self._alone)  # not by arrival, so that a restored state has the same bits
        systems, _, judges = np.array(cells, np.int64).reshape(-1, 3).T
        rows = [(count, sums.total, sums.squares) for count, sums in (self._alone[cell] for cell in cells)]
        count, total, squares = np.array(rows).reshape(-1, 3).T
        a, b = shift[judges], unit[judges]
        columns = (count, (total - count * a) * b, (squares - 2.0 * a * total + count * a * a) * b * b)
        return np.array([np.bincount(systems, column, self._systems) for column in columns])

    def _prior(self) -> tuple[float, float]:
        """Return the mean and deviation of a segment's score before any is known.

        z has mean 0 and deviation 1 by construction. A raw score is assumed to be uniform in its range.
        """
        if self.parameters.scale == "z":
            return 0.0, 1.0
        low, high = self.score_range
        return (low + high) / 2.0, (high - low) / sqrt(12.0)

    def _scales(self) -> tuple[Floats, Floats]:
        """Return what to subtract from each judge's scores, and the factor to multiply the result with."""
        count, mean, squares = np.array(self._judges).reshape(-1, 3).T
        if self.parameters.scale == "raw":
            return np.zeros_like(mean), np.ones_like(mean)
        deviation = np.sqrt(squares / np.maximum(count - 1.0, 1.0))
        return mean, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0.0)

    def _sort_cells(self) -> _Order:
        """Return the cells in the order of their keys, not of arrival, so that a restored state has the same bits."""
        if self._order is None or len(self._order.places) < len(self._sums.places):
            keys = np.array(list(self._sums.places), np.int64).reshape(-1, 3)
            places = np.lexsort(keys.T[::-1]).astype(np.int64)
            system, segment, judges = keys[places].T
            new = np.ones(len(places), np.bool_)
            new[1:] = (np.diff(system) != 0) | (np.diff(segment) != 0)
            self._order = _Order(places, judges, np.cumsum(new) - 1, system[new], segment[new])
        return self._order


class _Result(NamedTuple):
    """The mean and the deviation of each system, and the numbers of its segments and of its scores."""

    mean: Floats
    deviation: Floats
    segments: Floats
    counts: Floats


class _Order(NamedTuple):
    """The places, judges and outputs of the sorted cells, and the systems and segments of the outputs."""

    places: Ints
    judges: Ints
    outputs: Ints
    systems: Ints
    segments: Ints


def _narrowing(segments: float) -> float:
    """Return the bits that one more segment adds to what is known of a system with this many."""
    return 0.5 * log2((segments + 1.0) / segments) if segments else log2(UNSEEN)
