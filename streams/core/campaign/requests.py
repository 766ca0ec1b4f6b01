"""Match requests of a campaign: which ones to send next."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from streams.core.campaign.board import remaining_outlook
from streams.core.matching import choose_segments, find_policy
from streams.wire.events import MatchRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from streams.core.campaign.tables import CampaignTables
    from streams.core.matching import Match
    from streams.core.models import Model
    from streams.wire.events import CampaignSettings, CampaignStatus


def choose_requests(
    *,
    status: CampaignStatus,
    model: Model,
    tables: CampaignTables,
    candidates: Sequence[int],
    outstanding: Collection[MatchRequest],
    judgments: int,
    offset: int,
    clock: datetime,
    origin: str,
    seed: int,
) -> list[MatchRequest]:
    """Return new requests, as many as the settings ask for besides those that are outstanding.

    The result depends on the arguments alone. `origin` and `offset` make the ids, `seed` and `offset` the random draw.
    """
    settings = status.settings
    wanted = settings.outstanding - len(outstanding)
    if settings.budget is not None:
        wanted = min(wanted, settings.budget - judgments - len(outstanding))
    if status.state != "open" or wanted <= 0 or len(candidates) < 2:
        return []
    if model.kind != "rankings":
        return []  # a direct assessment is of one system, and no match
    if settings.stop_confidence is not None and remaining_outlook(model, settings, candidates, judgments).settled:
        return []
    systems = tables.systems
    matches = find_policy(settings.policy).choose(
        model,
        candidates=candidates,
        pending=[tuple(systems.index[system] for system in request.systems) for request in outstanding],
        count=wanted,
        random=np.random.default_rng([seed, offset + 1]),
        ways=settings.ways,
        met=tables.met,
    )
    segments = _choose_segments(matches, settings=settings, model=model, tables=tables, outstanding=outstanding)
    return [
        MatchRequest(
            id=f"{origin}/{offset}/{number}",
            campaign=status.campaign,
            systems=tuple(systems.names[system] for system in match.systems),
            segment=segment,
            why=match.why,
            information=match.information,
            expires_at=clock + timedelta(seconds=settings.request_seconds),
        )
        for number, (match, segment) in enumerate(zip(matches, segments, strict=True))
    ]


def open_requests(
    outstanding: Mapping[str, MatchRequest], *, status: CampaignStatus, clock: datetime
) -> dict[str, MatchRequest]:
    """Return the outstanding requests, by id, that a judge may still be given.

    A request ends when it expires, when one of its systems is withdrawn, and when the campaign is closed.
    """
    if status.state == "closed":
        return {}
    return {
        key: request
        for key, request in outstanding.items()
        if request.expires_at > clock and not any(system in status.withdrawn for system in request.systems)
    }


def _choose_segments(
    matches: Sequence[Match],
    *,
    settings: CampaignSettings,
    model: Model,
    tables: CampaignTables,
    outstanding: Collection[MatchRequest],
) -> list[str | None]:
    """Return a segment for each match: one that was judged and requested least, or one that tells most about it."""
    segments = tables.segments
    if not len(segments):
        return [None] * len(matches)
    load = tables.segment_judgments[: len(segments)].copy()
    for request in outstanding:
        if request.segment is not None:
            load[segments.index[request.segment]] += 1
    if settings.segment_choice == "least":
        return [segments.names[segment] for segment in choose_segments(load, count=len(matches))]
    chosen: list[str | None] = []
    for match in matches:
        information = model.segment_information(*match.systems[:2])
        (segment,) = choose_segments(load, count=1, information=information)
        load[segment] += 1
        chosen.append(segments.names[segment])
    return chosen
