"""A panel: whoever answers a request, and how, is a function of the request and the seed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from streams.crowd.crowd import answer_request

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from streams.crowd.judges import Judge
    from streams.crowd.truths import Truth
    from streams.wire.events import Judgment, MatchRequest


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Judges of whom chance calls one for each request.

    A request that is read again, or by another panel of the same seed, gets the same answer under the same id.
    """

    judges: Sequence[Judge]
    truth: Truth
    seed: int

    def answer(self, request: MatchRequest, *, asked: datetime) -> Judgment:
        """Answer a request; ParameterError where the truth does not know a pair of it."""
        random = np.random.default_rng([self.seed, crc32(request.id.encode())])
        judge = self.judges[int(random.integers(len(self.judges)))]
        return answer_request(request, judge, self.truth, began=asked, random=random)
