"""A small model that is not part of the package. As a pytest plugin, this module adds it to the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.models import MODELS, JudgeFacts, JudgmentBatch
from streams.core.models.base import grown
from streams.core.models.trueskill import TrueSkill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.core.models.base import Axis, Floats


class Tiny(TrueSkill):
    """TrueSkill that counts the answers of each judge, and trusts a judge more with every answer."""

    name: ClassVar[str] = "tiny"
    widths: ClassVar[Mapping[Axis, int]] = {"systems": 2, "judges": 3, "segments": 0}

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._answers: Floats = np.empty(0)
        self._judges = 0

    def grow(self, systems: int, judges: int, segments: int) -> None:
        super().grow(systems, judges, segments)
        self._answers = grown(self._answers, judges, 0.0)
        self._judges = max(self._judges, judges)

    def apply(self, batch: JudgmentBatch) -> None:
        super().apply(batch)
        np.add.at(self._answers, batch.judges, 1.0)

    def dump_row(self, axis: Axis, index: int) -> tuple[float, ...]:
        row = super().dump_row(axis, index)
        return (*row, float(self._answers[index])) if axis == "judges" else row

    def load_row(self, axis: Axis, index: int, row: tuple[float, ...]) -> None:
        if axis == "judges":
            self._answers[index] = row[-1]
            row = row[:-1]
        super().load_row(axis, index, row)

    def judge_facts(self) -> JudgeFacts:
        answers = self._answers[: self._judges]
        return JudgeFacts(reliability=(answers + 1.0) / (answers + 2.0))


def register() -> None:
    """Add the model to the registry, as its line in `streams.core.models` would."""
    MODELS[Tiny.name] = Tiny


def pytest_configure() -> None:
    register()
