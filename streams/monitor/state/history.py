"""The history of the ratings: leaderboards are added to the ledger as they come, and read back for the charts."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from streams.monitor.ledger.base import Sample
from streams.monitor.state.payloads import HistoryPayload, HistoryPoint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from streams.monitor.backends.base import Backend
    from streams.monitor.ledger.base import PairSample
    from streams.monitor.state.watched import WatchedCampaign
    from streams.wire.events import Leaderboard

RECORD_SECONDS = 1.0  # between two samples of one campaign
PAIRS_GROWTH = 1.05  # the pairs are recorded again when the log has grown by this factor
DIGITS = 5  # of the recorded scores, which are only drawn


# -- writing -------------------------------------------------------------------------------------------------


async def record(backend: Backend, watched: WatchedCampaign) -> bool:
    """Add a new leaderboard and the counts of the pairs to the history. Return whether the leaderboard was kept."""
    if watched.unrecorded is None or monotonic() - watched.recorded_at < RECORD_SECONDS:
        return False
    watched.recorded_at = monotonic()
    sample, watched.unrecorded = sample_of(watched.board, at=watched.unrecorded), None
    kept = await backend.run(backend.ledger.add_sample, watched.name, sample)
    if kept:
        watched.sample = sample
    if watched.snapshot is not None:
        sequence = watched.snapshot.leaderboard.sequence
        if not 0 <= watched.paired <= sequence < PAIRS_GROWTH * watched.paired:
            watched.paired = sequence
            pairs = await backend.run(watched.snapshot.pair_sample)
            await backend.run(backend.ledger.add_pair_sample, watched.name, pairs)
    return kept


def sample_of(board: Leaderboard, *, at: datetime) -> Sample:
    """Return the part of a leaderboard that the history keeps."""
    return Sample(
        sequence=board.sequence,
        judgments=board.judgments,
        at=at,
        rows={row.system: (round(row.score, DIGITS), round(row.deviation, DIGITS), row.rank) for row in board.rows},
    )


# -- reading -------------------------------------------------------------------------------------------------


def history_payload(samples: Sequence[Sample], *, after: int = -1) -> HistoryPayload:
    """Return the samples after a sequence number, with the values in the same order of systems."""
    kept = [sample for i, sample in enumerate(samples) if sample.sequence > after and _is_newer(samples, i)]
    systems = list(dict.fromkeys(system for sample in reversed(kept) for system in sample.rows))
    return HistoryPayload(systems=systems, samples=[point_of(sample, systems) for sample in kept])


def _is_newer(samples: Sequence[Sample], place: int) -> bool:
    return place == 0 or samples[place].sequence > samples[place - 1].sequence


def point_of(sample: Sample, systems: Sequence[str]) -> HistoryPoint:
    """Return the values of a sample in the order of the given systems."""
    rows = [sample.rows.get(system, (None, None, None)) for system in systems]
    return HistoryPoint(
        sequence=sample.sequence,
        judgments=sample.judgments,
        at=sample.at,
        scores=[row[0] for row in rows],
        deviations=[row[1] for row in rows],
        ranks=[row[2] for row in rows],
    )


def first_half(samples: Sequence[PairSample], judgments: int) -> PairSample | None:
    """Return the sample nearest to half of the judgments. Return None if none is near."""
    near = [sample for sample in samples if 0.25 <= sample.judgments / max(1, judgments) <= 0.75]
    return min(near, key=lambda sample: abs(2 * sample.judgments - judgments), default=None)


def meetings(sample: PairSample) -> dict[frozenset[str], int]:
    """Return how often each two systems had met."""
    counts = iter(sample.met)
    names = sample.systems
    return {frozenset((names[i], other)): next(counts) for i in range(len(names)) for other in names[i + 1 :]}
