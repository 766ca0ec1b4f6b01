"""Votes as a log of judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.wire.events import EPOCH, Judgment

if TYPE_CHECKING:
    from streams.core.judges import Votes


def judgment(
    number: int, judge: str, systems: tuple[str, ...], ranks: tuple[int, ...], ms: int | None = None
) -> Judgment:
    return Judgment(
        id=str(number), campaign="c", segment="s", judge=judge, systems=systems, ranks=ranks, at=EPOCH, duration_ms=ms
    )


def log_of(votes: Votes) -> list[Judgment]:
    """Return the votes as a log."""
    log: list[Judgment] = []
    for j, a, b, outcome, count in zip(
        votes.judge, votes.first, votes.second, votes.outcome.tolist(), votes.count, strict=True
    ):
        ranks = {1: (1, 2), 0: (1, 1), -1: (2, 1)}[outcome]
        for _ in range(int(count)):
            log.append(judgment(len(log), votes.judges[j], (votes.systems[a], votes.systems[b]), ranks))
    return log
