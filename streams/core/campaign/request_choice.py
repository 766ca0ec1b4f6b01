"""The choice of match requests: which systems to judge next, and on which segments.

A choice is drafted from the state of a campaign at one moment, and depends on its draft alone. With many systems it
takes up to a second, so the draft has copies of all that batches change, and any thread may choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from threading import local
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.core.campaign.board import BoardDraft
from streams.core.matching import Meetings, choose_output, choose_segments, choose_systems, find_policy
from streams.core.matching.segments import NEVER
from streams.wire.events import MatchRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from streams.core.campaign.names import Ints
    from streams.core.campaign.stop_rule import StopCheck
    from streams.core.campaign.tables import CampaignTables
    from streams.core.matching import Match
    from streams.core.models import Model
    from streams.wire.events import CampaignStatus, Leaderboard


@dataclass(frozen=True, kw_only=True)
class RequestTables:
    """What a choice needs of the tables. Both indices may grow meanwhile; they are asked for known names only."""

    systems: Sequence[str]
    system_index: Mapping[str, int]
    meetings: Meetings
    segments: Sequence[str]
    segment_index: Mapping[str, int]
    segment_judgments: Ints
    shared_segment: int | None

    @classmethod
    def of(cls, tables: CampaignTables, *, copied: bool) -> RequestTables:
        """Return the tables as they are now, copied if batches may change them before the choice."""
        systems, segments = tables.systems, tables.segments
        size, known = len(systems), len(segments)
        wins, ties, judged = tables.wins[:size, :size], tables.ties[:size, :size], tables.segment_judgments[:known]
        return cls(
            systems=systems.names[:] if copied else systems.names,
            system_index=systems.index,
            meetings=Meetings(wins.copy(), ties.copy()) if copied else Meetings(wins, ties),
            segments=segments.names[:] if copied else segments.names,
            segment_index=segments.index,
            segment_judgments=judged.copy() if copied else judged,
            shared_segment=segments.shared,
        )


@dataclass(frozen=True, kw_only=True)
class ChosenRequests:
    """What was chosen from a draft of the state at `offset`, after the deletion at `deleted`."""

    requests: tuple[MatchRequest, ...]
    stop: StopCheck
    offset: int
    deleted: int


@dataclass(frozen=True, kw_only=True)
class RequestDraft:
    """The state of a campaign from which `count` match requests are to be chosen.

    `outstanding` are the requests without an answer, except those for gold items. `stop` is the last check of the stop
    rule. With a `board` it is a new one, and the board decides whether the rule is met. `origin`, `offset` and `first`
    make the ids, and `seed` and `offset` the random draw.
    """

    status: CampaignStatus
    model: Model
    tables: RequestTables
    candidates: Sequence[int]
    outstanding: Sequence[MatchRequest]
    count: int
    stop: StopCheck
    board: BoardDraft | Leaderboard | None
    clock: datetime
    origin: str
    offset: int
    deleted: int
    first: int
    seed: int

    def choose(self) -> ChosenRequests:
        """Choose the requests. There are none if the stop rule is met."""
        stop = self.stop
        if self.board is not None:
            board = self.board.settle() if isinstance(self.board, BoardDraft) else self.board
            met = board.outlook is not None and board.outlook.state == "settled"
            stop = msgspec.structs.replace(stop, met=met)
        requests = () if stop.met else self._choose()
        return ChosenRequests(requests=requests, stop=stop, offset=self.offset, deleted=self.deleted)

    def _choose(self) -> tuple[MatchRequest, ...]:
        random = _scratch.generator(self.seed, self.offset)
        scored = self.model.kind == "scores"
        matches = self._choose_scores(random) if scored else self._choose_matches(random)
        segments = self._choose_outputs(matches) if scored else self._choose_segments(matches)
        # The order of the systems is the order shown. It is random, so that a position bias averages out.
        orders = np.argsort(random.random((len(matches), len(matches[0].systems) if matches else 0)), axis=1).tolist()
        expires_at = self.clock + timedelta(seconds=self.status.settings.request_seconds)
        names = self.tables.systems
        return tuple(
            MatchRequest(
                id=f"{self.origin}/{self.offset}/{number}",
                campaign=self.status.campaign,
                systems=tuple([names[match.systems[place]] for place in order]),
                segment=segment,
                why=match.why,
                information=match.information,
                expires_at=expires_at,
            )
            for number, (match, segment, order) in enumerate(zip(matches, segments, orders, strict=True), self.first)
        )

    def _choose_matches(self, random: np.random.Generator) -> list[Match]:
        """Choose systems to compare."""
        settings, index = self.status.settings, self.tables.system_index
        return find_policy(settings.policy).choose(
            self.model,
            candidates=self.candidates,
            pending=[tuple(index[system] for system in request.systems) for request in self.outstanding],
            count=self.count,
            random=random,
            ways=settings.ways,
            meetings=self.tables.meetings,
        )

    def _choose_scores(self, random: np.random.Generator) -> list[Match]:
        """Choose systems to score."""
        pending = [self.tables.system_index[system] for request in self.outstanding for system in request.systems]
        policy = self.status.settings.policy
        return choose_systems(
            policy, self.model, candidates=self.candidates, pending=pending, count=self.count, random=random
        )

    def _choose_segments(self, matches: Sequence[Match]) -> list[str | None]:
        """Return a segment for each match: one that was judged and requested least, or one that tells most about it."""
        tables, settings = self.tables, self.status.settings
        if not tables.segments:
            return [None] * len(matches)
        load = tables.segment_judgments.copy()
        for request in self.outstanding:
            if request.segment is not None:
                load[tables.segment_index[request.segment]] += 1
        if tables.shared_segment is not None:
            load[tables.shared_segment] = NEVER
        # Against a baseline a segment has a difficulty of its own, which makes it more or less informative.
        automatic = "least" if self.model.required_system is None else "information"
        if (automatic if settings.segment_choice == "auto" else settings.segment_choice) == "least":
            return [tables.segments[segment] for segment in choose_segments(load, count=len(matches))]
        chosen: list[str | None] = []
        for match in matches:
            information = self.model.segment_information(*match.systems[:2])
            if information is not None and tables.shared_segment is not None:
                information[tables.shared_segment] = -1.0
            (segment,) = choose_segments(load, count=1, information=information)
            load[segment] += 1
            chosen.append(tables.segments[segment])
        return chosen

    def _choose_outputs(self, matches: Sequence[Match]) -> list[str | None]:
        """Return a segment for each system to be scored: one on which it was scored and requested least."""
        tables, counts = self.tables, {}
        for system in {system for match in matches for system in match.systems}:
            counts[system] = self.model.segment_counts(system, len(tables.segments))
        for request in self.outstanding:
            asked = counts.get(tables.system_index[request.systems[0]])
            if asked is not None and request.segment is not None:
                asked[tables.segment_index[request.segment]] += 1
        if tables.shared_segment is not None:
            for count in counts.values():
                count[tables.shared_segment] = NEVER
        chosen: list[str | None] = []
        for match in matches:
            count = counts[match.systems[0]]
            segment = choose_output(count, is_listed=bool(self.status.settings.segments))
            if segment is not None:
                count[segment] += 1
            chosen.append(None if segment is None else tables.segments[segment])
        return chosen


class _Scratch(local):
    """One generator per thread. To make a new one for each batch would take as long as the choice of a pair."""

    def __init__(self) -> None:
        self._bits = np.random.PCG64(0)
        self._random = np.random.Generator(self._bits)

    def generator(self, seed: int, offset: int) -> np.random.Generator:
        """Return the generator in the state that belongs to an offset, until the next call."""
        drawn = blake2b(b"%d %d" % (seed, offset), digest_size=32).digest()
        state, increment = int.from_bytes(drawn[:16], "little"), int.from_bytes(drawn[16:], "little") | 1  # it is odd
        self._bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": increment},
            "has_uint32": 0,
            "uinteger": 0,
        }
        return self._random


_scratch = _Scratch()
