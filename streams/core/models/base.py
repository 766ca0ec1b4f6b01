"""The interface of all online models: state on arrays, updated by batches of judgments in log order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from streams.errors import ParameterError
from streams.wire.score_range import DEFAULT_SCORE_RANGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from streams.core.models.card import ModelCard
    from streams.core.models.judge_outcomes import JudgeOutcomes
    from streams.core.models.score_cells import ScoreCells
    from streams.wire.events import CampaignSettings

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FEW = 32  # judgments
Axis = Literal["systems", "judges", "segments"]
Kind = Literal["rankings", "scores"]
Cell = tuple[int, int, int]  # system, segment, judge


class Outcome(NamedTuple):
    """The probabilities that a wins, that they tie and that b wins."""

    win: float
    tie: float
    loss: float


@dataclass(frozen=True, kw_only=True)
class JudgmentBatch:
    """Judgments as arrays: judgment k is about systems[starts[k]:starts[k + 1]], by judges[k] on segments[k].

    Systems, judges and segments are indices that the campaign assigned in log order. A ranking has ranks (1 is best,
    equal ranks are a tie). A direct assessment has one system and a score; its rank has no meaning.
    """

    systems: Ints
    ranks: Ints
    starts: Ints
    judges: Ints
    segments: Ints
    scores: Floats  # one per judgment; NaN for a ranking

    def __len__(self) -> int:
        return len(self.judges)

    @cached_property
    def sizes(self) -> Ints:
        """The number of systems of each judgment."""
        return self.starts[1:] - self.starts[:-1]

    @cached_property
    def pairs(self) -> int:
        """The number of pairwise outcomes."""
        if len(self.judges) < FEW:  # they are counted sooner one by one
            starts: list[int] = self.starts.tolist()
            return sum((end - start) * (end - start - 1) for start, end in pairwise(starts)) // 2
        return (int((self.sizes * self.sizes).sum()) - len(self.systems)) // 2


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a model. Each model declares its own, with bounds and defaults."""


class PairParameters(NamedTuple):
    """The prior N(mean, deviation²), noise and tie margin of TrueSkill on pairs; the online bootstrap uses them.

    The defaults are the best on average over the real logs, see docs/models.md. The deviation is the unit of the scale.
    """

    mean: float = 0.0
    deviation: float = 1.0
    beta: float = 1.118
    margin: float = 0.58


class BoardScale(NamedTuple):
    """The scale of a board that is settled from pair counts: the noise of a performance, and the prior's deviation."""

    beta: float
    deviation: float


@dataclass(frozen=True, kw_only=True)
class JudgeFacts:
    """What a model has learned about each judge, by index. A column is None if the model does not estimate it."""

    sensitivity: Floats | None = None  # how well the judge tells systems apart
    reliability: Floats | None = None  # expected share of answers that were not given at random


class SettingProblem(NamedTuple):
    """A campaign setting that does not suit the model: its name and the reason."""

    setting: str
    message: str


class Model(ABC):
    """An online model of one campaign.

    A row of state is `widths[axis]` floats for each system, judge or segment. All rows together, with the few floats of
    `dump_shared`, are the whole state, and dumping and loading keeps every bit. A model may also keep `cell_width`
    floats for each distinct cell (a system on a segment by a judge); its state then grows with the number of cells.
    `budget` is the planned number of judgments. `baseline` is the index of the campaign's baseline system, or None.
    `score_range` holds the lowest and the highest score of a direct assessment. `shared_segment` is the index that
    stands for all segments beyond the limit, or None. A judgment on one of them is rated as if it were the only one on
    its segment.

    Callers ask the model what it offers (`judge_facts`, `board_scale`, `bootstrap_parameters`, `check_settings`,
    `required_system`, `segment_information`) and never look at its class.
    """

    name: ClassVar[str]
    card: ClassVar[ModelCard]
    ranges: ClassVar[tuple[str, ...]] = ("closed", "posterior", "bootstrap")  # rank ranges, the default first
    kind: ClassVar[Kind] = "rankings"
    parameters_type: ClassVar[type[Parameters]]
    widths: ClassVar[Mapping[Axis, int]]
    cell_width: ClassVar[int] = 0
    moves_all: ClassVar[bool] = False  # whether a judgment also changes the scores of systems that are not in it
    ranks_categories: ClassVar[bool] = False  # whether pair counts say all that the board of a category needs
    takes_baseline: ClassVar[bool] = False  # whether a campaign of this model may name a `baseline`

    def __init__(self, parameters: Parameters, *, budget: int | None = None) -> None:
        self.parameters = parameters
        self.budget = budget
        self.baseline: int | None = None
        self.shared_segment: int | None = None
        self.score_range: tuple[float, ...] = DEFAULT_SCORE_RANGE

    @abstractmethod
    def grow(self, systems: int, judges: int, segments: int) -> None:
        """Make room for this many systems, judges and segments. New ones start at the prior."""

    @abstractmethod
    def apply(self, batch: JudgmentBatch) -> None:
        """Update with judgments, in order."""

    @abstractmethod
    def predict(self, a: int, b: int) -> Outcome:
        """Return the probabilities of the outcomes of a against b."""

    @abstractmethod
    def information(self, a: int, b: int) -> float:
        """Return the information, in bits, that a judgment of a against b is expected to add about their ratings."""

    def informations(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """Return the information of a judgment of each pair."""
        return [self.information(a, b) for a, b in pairs]

    @abstractmethod
    def scores(self) -> tuple[Floats, Floats]:
        """Return the mean and the deviation of each system."""

    @abstractmethod
    def dump_row(self, axis: Axis, index: int) -> tuple[float, ...]:
        """Return one row of state, exactly."""

    @abstractmethod
    def load_row(self, axis: Axis, index: int, row: tuple[float, ...]) -> None:
        """Restore one row of state, exactly."""

    def dump_shared(self) -> tuple[float, ...]:
        """Return the state that belongs to no single row, exactly. By default, there is none."""
        return ()

    def load_shared(self, row: tuple[float, ...]) -> None:
        """Restore what `dump_shared` returned, exactly."""
        if row:
            raise ValueError(f"the model {self.name!r} keeps nothing beside its rows; got {row}")

    def dump_cell(self, cell: Cell) -> tuple[float, ...]:
        """Return the state of a cell that was judged, exactly."""
        raise NotImplementedError(f"the model {self.name!r} keeps no cells; asked for {cell}")

    def load_cell(self, cell: Cell, row: tuple[float, ...]) -> None:
        """Restore the state of a cell, exactly."""
        raise NotImplementedError(f"the model {self.name!r} keeps no cells; got {row} for {cell}")

    def judge_cells(self, judge: int) -> list[Cell]:  # noqa: ARG002 - few models keep cells
        """Return the cells that a judge has judged."""
        return []

    def judge_facts(self) -> JudgeFacts:
        """Return what the model has learned about its judges. By default, nothing."""
        return JudgeFacts()

    def board_scale(self) -> BoardScale | None:
        """Return the scale of a board that is settled from the pair counts, or None if they do not say all."""
        return None

    def judge_outcomes(self) -> JudgeOutcomes | None:
        """Return the outcomes by which judges are weighted on the board, or None if all judges count the same."""
        return None

    def take_back(self, judge: int, systems: Sequence[int], ranks: Sequence[int]) -> None:  # noqa: B027 - most keep none
        """Subtract a ranking from what the board is computed of. The ratings keep it. By default, that is nothing."""

    def score_cells(self) -> ScoreCells | None:
        """Return the scores from which the board of direct assessment is computed, or None if there are none."""
        return None

    def bootstrap_parameters(self) -> PairParameters | None:
        """Return the parameters of the online bootstrap beside this model, or None if it needs none."""
        return PairParameters() if self.kind == "rankings" and self.board_scale() is None else None

    @property
    def required_system(self) -> int | None:
        """Return the system without which a judgment tells this model nothing, or None if any systems may meet."""
        return None

    @property
    def learns_segments(self) -> bool:
        """Return whether the model estimates anything about segments."""
        return self.widths["segments"] > 0

    def segment_information(self, a: int, b: int) -> Floats | None:  # noqa: ARG002 - few models learn about segments
        """Return how much a typical verdict on each segment tells about a and b, or None if segments do not matter."""
        return None

    def score_information(self, system: int, *, expected: int = 0) -> float:
        """Return the bits that one more score of a system adds, when `expected` others have arrived."""
        raise NotImplementedError(f"the model {self.name!r} rates no scores; asked for {system} after {expected}")

    def scores_per_segment(self, system: int) -> float:
        """Return the mean number of scores on the segments of a system that were scored."""
        raise NotImplementedError(f"the model {self.name!r} rates no scores; asked for {system}")

    def segment_counts(self, system: int, segments: int) -> Ints:
        """Return the number of scores of a system on each segment."""
        raise NotImplementedError(f"the model {self.name!r} rates no scores; asked for {system} on {segments}")

    def check_settings(self, settings: CampaignSettings) -> SettingProblem | None:  # noqa: ARG002 - most suit any
        """Return the first setting of a new campaign that does not suit the model, or None."""
        return None


def grown(array: Floats, size: int, fill: float) -> Floats:
    """Return the array with room for at least `size` values. The size doubles, so that repeated growing stays cheap.

    >>> grown(np.zeros(1), 2, 0.5).tolist()[:3]
    [0.0, 0.5, 0.5]
    """
    if size <= len(array):
        return array
    return np.append(array, np.full(max(size, 2 * len(array), 16) - len(array), fill))


def parameters_of(model: type[Model], values: Mapping[str, object]) -> Parameters:
    """Return the parameters as the model declares them, or raise ParameterError."""
    try:
        return msgspec.convert(values, model.parameters_type, strict=True)
    except msgspec.ValidationError as error:
        raise ParameterError(f"model {model.name!r}: {error}; {_way_out(model, str(error))}") from None


def _way_out(model: type[Model], message: str) -> str:
    """Return the choices of the parameter that a message is about, or all parameters if it has no choices."""
    name = message.rpartition("`$.")[2].rstrip("`")
    hint = get_type_hints(model.parameters_type).get(name)
    choices = [choice for each in (hint, *get_args(hint)) if get_origin(each) is Literal for choice in get_args(each)]
    if len(choices) == 1:
        return f"this model has only {choices[0]!r}: leave out {name}, or choose another model"
    if choices:
        return f"{name} is one of: {', '.join(choices)}"
    return f"its parameters: {', '.join(model.parameters_type.__struct_fields__)}"
