"""The match requests of a campaign: which are out, and which should go out next."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from streams.core.matching import choose_segments, find_policy
from streams.wire.events import MatchRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.core.campaign.campaign import Campaign
    from streams.core.matching import Match


class Requests:
    """The requests that are out, by id; time is the campaign's clock, which its log drives."""

    def __init__(self, outstanding: Iterable[MatchRequest] = ()) -> None:
        self.outstanding = {request.id: request for request in outstanding}

    def answered(self, request_id: str) -> None:
        """Take a request off, if it is out."""
        self.outstanding.pop(request_id, None)

    def fill(self, campaign: Campaign, *, origin: str, seed: int) -> list[MatchRequest]:
        """Drop what has expired, and ask for as many matches as the settings want."""
        self.outstanding = {
            name: request for name, request in self.outstanding.items() if request.expires_at > campaign.clock
        }
        settings, tables, candidates = campaign.status.settings, campaign.tables, campaign.active
        wanted = settings.outstanding - len(self.outstanding)
        if settings.budget is not None:
            wanted = min(wanted, settings.budget - campaign.counts.judgments - len(self.outstanding))
        if campaign.status.state != "open" or wanted <= 0 or len(candidates) < 2:
            return []
        if campaign.model.kind != "rankings":
            return []  # a direct assessment is of one system, and no match
        if settings.stop_confidence is not None and campaign.outlook().settled:
            return []
        matches = find_policy(settings.policy).choose(
            campaign.model,
            candidates=candidates,
            pending=[
                tuple(tables.systems.index[system] for system in request.systems)
                for request in self.outstanding.values()
            ],
            count=wanted,
            random=np.random.default_rng([seed, campaign.offset + 1]),
            ways=settings.ways,
            met=tables.met,
        )
        requests = [
            MatchRequest(
                id=f"{origin}/{campaign.offset}/{number}",
                campaign=campaign.name,
                systems=tuple(tables.systems.names[system] for system in match.systems),
                segment=segment,
                why=match.why,
                information=match.information,
                expires_at=campaign.clock + timedelta(seconds=settings.request_seconds),
            )
            for number, (match, segment) in enumerate(zip(matches, self._segments(campaign, matches), strict=True))
        ]
        for request in requests:
            self.outstanding[request.id] = request
        return requests

    def _segments(self, campaign: Campaign, matches: list[Match]) -> list[str | None]:
        """Choose the segments that were judged and asked for least, or by what each tells about the match."""
        segments = campaign.tables.segments
        if not len(segments):
            return [None] * len(matches)
        load = campaign.tables.segment_judgments[: len(segments)].copy()
        for request in self.outstanding.values():
            if request.segment is not None:
                load[segments.index[request.segment]] += 1
        if campaign.status.settings.segment_choice == "least":
            return [segments.names[segment] for segment in choose_segments(load, count=len(matches))]
        chosen: list[str | None] = []
        for match in matches:
            information = campaign.model.segment_information(*match.systems[:2])
            (segment,) = choose_segments(load, count=1, information=information)
            load[segment] += 1
            chosen.append(segments.names[segment])
        return chosen
