"""Count the judgments that name no judge or no segment: in JSON Lines, and in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.formats.names import ANONYMOUS, UNSPECIFIED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.formats.base import ImportRun
    from streams.wire.events import Judgment
    from streams.wire.scanner import JudgmentColumns


def count_unnamed(block: bytes, judgments: Sequence[Judgment], run: ImportRun) -> None:
    """Count them among the judgments of a block of JSON Lines. Most blocks do not contain the words at all."""
    if ANONYMOUS.encode() in block:
        run.summary.anonymous += sum(judgment.judge == ANONYMOUS for judgment in judgments)
    if UNSPECIFIED.encode() in block:
        run.summary.unspecified += sum(judgment.segment == UNSPECIFIED for judgment in judgments)


class UnnamedCounter:
    """Counts them in the columns of one log, whose names have the same numbers in all blocks."""

    def __init__(self) -> None:
        self._numbers = {ANONYMOUS: -1, UNSPECIFIED: -1}
        self._searched = 0  # names

    def count(self, columns: JudgmentColumns, run: ImportRun) -> None:
        """Count the judgments of a block."""
        names, known = columns.names, len(columns.names)
        for name, number in self._numbers.items():
            if number < 0 and name in (new := names[self._searched : known]):
                self._numbers[name] = self._searched + new.index(name)
        self._searched = known
        run.summary.anonymous += int(np.count_nonzero(columns.judges == self._numbers[ANONYMOUS]))
        run.summary.unspecified += int(np.count_nonzero(columns.segments == self._numbers[UNSPECIFIED]))
