"""A panel: judges whose answer to a request depends only on the request and the seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from streams.crowd.crowd import answer_request
from streams.wire.score_range import DEFAULT_SCORE_RANGE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from streams.crowd.judges import Judge
    from streams.crowd.truths import Truth
    from streams.wire.events import Judgment, MatchRequest


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Judges of whom a random one answers each request.

    The same request gets the same answer with the same id, also from another panel with the same seed.
    """

    judges: Sequence[Judge]
    truth: Truth
    seed: int
    score_range: Sequence[float] = DEFAULT_SCORE_RANGE

    def answer(self, request: MatchRequest, *, asked: datetime) -> Judgment:
        """Return the answer to a request. Raise ParameterError if the truth does not know a system or a pair."""
        random = np.random.default_rng([self.seed, crc32(request.id.encode())])
        judge = self.judges[int(random.integers(len(self.judges)))]
        return answer_request(request, judge, self.truth, began=asked, random=random, score_range=self.score_range)
