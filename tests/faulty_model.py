"""A model with a fault, for tests of what an unexpected error in one campaign does to the others."""

from __future__ import annotations

from typing import Any

from streams.core.models.trueskill import TrueSkill

GOOD_SYSTEMS = 4


def faulty(*methods: str, error: type[Exception] = ZeroDivisionError, name: str = "faulty") -> type[TrueSkill]:
    """Return TrueSkill, some of whose methods raise an error if they have to do with a fifth system.

    `apply` fails after it has changed the ratings.
    """

    class Faulty(TrueSkill):
        def apply(self, batch: Any) -> None:
            super().apply(batch)
            self._fail("apply", max(batch.systems))

        def informations(self, pairs: Any) -> list[float]:
            self._fail("informations", self._count - 1)
            return super().informations(pairs)

        def scores(self) -> Any:
            self._fail("scores", self._count - 1)
            return super().scores()

        def dump_row(self, axis: Any, index: int) -> tuple[float, ...]:
            if axis == "systems":
                self._fail("dump_row", index)
            return super().dump_row(axis, index)

        def load_row(self, axis: Any, index: int, row: tuple[float, ...]) -> None:
            if axis == "systems":
                self._fail("load_row", index)
            super().load_row(axis, index, row)

        def _fail(self, where: str, system: int) -> None:
            if where in methods and system >= GOOD_SYSTEMS:
                raise error(f"the model fails in {where}")

    Faulty.name = name
    return Faulty
