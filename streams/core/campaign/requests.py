"""Match requests of a campaign: which ones to send next, and which ones to cancel."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from streams.core.campaign.gold import GoldItems
from streams.core.campaign.request_ids import is_signed, signed_id
from streams.core.matching import Meetings, choose_output, choose_segments, choose_systems, find_policy
from streams.wire.events import MatchRequest

NO_GOLD = GoldItems(())
NEVER = np.iinfo(np.int64).max  # how often the shared segment seems to be judged: no judge can be sent to it

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from streams.core.campaign.tables import CampaignTables
    from streams.core.matching import Match
    from streams.core.models import Model
    from streams.wire.events import CampaignSettings, CampaignStatus


# Each choice compares all pairs of systems. With very many, later batches choose a part of the requests.
MOST_PAIRS = 400_000_000
FEWEST = 16
# A fit of many systems is dear, so that one fit chooses several requests: one per so many systems, half of all at most.
SYSTEMS_PER_REQUEST = 20


class RequestUpdate(NamedTuple):
    """The match requests after a batch: those that are outstanding, by id, and what is to be sent about them."""

    outstanding: dict[str, MatchRequest]
    new: tuple[MatchRequest, ...]
    cancelled: tuple[MatchRequest, ...]


def update_requests(
    outstanding: Mapping[str, MatchRequest],
    *,
    status: CampaignStatus,
    model: Model,
    tables: CampaignTables,
    candidates: Sequence[int],
    judgments: int,
    is_settled: bool,
    offset: int,
    clock: datetime,
    origin: str,
    seed: int,
    request_key: bytes = b"",
    gold: GoldItems = NO_GOLD,
) -> RequestUpdate:
    """Drop the requests that have ended, and choose others in their place. See `choose_requests`."""
    still_open = open_requests(outstanding, status=status, tables=tables, clock=clock, gold=gold)
    if status.settings.requests_only:  # those from before the setting can't be verified
        still_open = {key: each for key, each in still_open.items() if is_signed(each, request_key)}
    new = choose_requests(
        status=status,
        model=model,
        tables=tables,
        candidates=candidates,
        outstanding=[each for each in still_open.values() if not gold.includes(each)],
        judgments=judgments,
        is_settled=is_settled,
        offset=offset,
        clock=clock,
        origin=origin,
        seed=seed,
        besides=sum(map(gold.includes, still_open.values())),
    )
    if gold.items:
        rate, draw = status.settings.gold_rate, (seed, offset + 1, 1)
        new = gold.mix_in(new, rate=rate, outstanding=still_open.values(), seed=draw)
    if status.settings.requests_only:
        new = [msgspec.structs.replace(each, id=signed_id(each.id, each, request_key)) for each in new]
    cancelled = tuple(
        msgspec.structs.replace(request, cancelled=True)
        for key, request in outstanding.items()
        if key not in still_open and request.expires_at > clock
    )
    return RequestUpdate(still_open | {request.id: request for request in new}, tuple(new), cancelled)


def choose_requests(
    *,
    status: CampaignStatus,
    model: Model,
    tables: CampaignTables,
    candidates: Sequence[int],
    outstanding: Collection[MatchRequest],
    judgments: int,
    is_settled: bool,
    offset: int,
    clock: datetime,
    origin: str,
    seed: int,
    besides: int = 0,
) -> list[MatchRequest]:
    """Return new requests, as many as the settings or the judges ask for besides those that are outstanding.

    `besides` is the number of outstanding requests for gold items, which are not among the others.

    With many systems, there are none until several are missing (see `is_short`), and with several hundred, later
    batches choose a part of them.

    The result depends on the arguments alone. `origin` and `offset` make the ids, `seed` and `offset` the random draw.
    """
    settings = status.settings
    wanted = wanted_requests(status) - len(outstanding) - besides
    if not is_short(wanted, wanted_requests(status), len(candidates)):
        return []
    if settings.budget is not None:
        wanted = min(wanted, settings.budget - judgments - len(outstanding))
    wanted = min(wanted, max(FEWEST, MOST_PAIRS // max(1, len(candidates)) ** 2))
    if status.state != "open" or wanted <= 0 or len(candidates) < (1 if model.kind == "scores" else 2):
        return []
    if is_settled:
        return []
    random = np.random.default_rng([seed, offset + 1])
    choose = _choose_scores if model.kind == "scores" else _choose_matches
    matches, segments = choose(
        settings,
        model=model,
        tables=tables,
        candidates=candidates,
        outstanding=outstanding,
        count=wanted,
        random=random,
    )
    names = tables.systems.names
    return [
        MatchRequest(
            id=f"{origin}/{offset}/{number}",
            campaign=status.campaign,
            # The order of the systems is the order shown. It is random, so that a position bias averages out.
            systems=tuple(names[system] for system in random.permutation(match.systems).tolist()),
            segment=segment,
            why=match.why,
            information=match.information,
            expires_at=clock + timedelta(seconds=settings.request_seconds),
        )
        for number, (match, segment) in enumerate(zip(matches, segments, strict=True))
    ]


def is_short(missing: int, wanted: int, systems: int) -> bool:
    """Return whether so many requests are missing that choosing others pays.

    >>> is_short(1, 10, 20), is_short(1, 10, 100), is_short(5, 10, 1000)
    (True, False, True)
    """
    return missing >= min(max(1, systems // SYSTEMS_PER_REQUEST), max(1, (wanted + 1) // 2))


def _choose_matches(
    settings: CampaignSettings,
    *,
    model: Model,
    tables: CampaignTables,
    candidates: Sequence[int],
    outstanding: Collection[MatchRequest],
    count: int,
    random: np.random.Generator,
) -> tuple[list[Match], list[str | None]]:
    """Choose systems to compare, and a segment for each match."""
    size, index = len(tables.systems), tables.systems.index
    matches = find_policy(settings.policy).choose(
        model,
        candidates=candidates,
        pending=[tuple(index[system] for system in request.systems) for request in outstanding],
        count=count,
        random=random,
        ways=settings.ways,
        meetings=Meetings(tables.wins[:size, :size], tables.ties[:size, :size]),
    )
    return matches, _choose_segments(matches, settings=settings, model=model, tables=tables, outstanding=outstanding)


def _choose_scores(
    settings: CampaignSettings,
    *,
    model: Model,
    tables: CampaignTables,
    candidates: Sequence[int],
    outstanding: Collection[MatchRequest],
    count: int,
    random: np.random.Generator,
) -> tuple[list[Match], list[str | None]]:
    """Choose systems to score, and a segment for each."""
    pending = [tables.systems.index[system] for request in outstanding for system in request.systems]
    matches = choose_systems(settings.policy, model, candidates=candidates, pending=pending, count=count, random=random)
    return matches, _choose_outputs(matches, settings=settings, model=model, tables=tables, outstanding=outstanding)


def wanted_requests(status: CampaignStatus) -> int:
    """Return how many requests a campaign keeps open: `outstanding`, or more if judges ask for more.

    If `outstanding` is 0, the operator wants none, whoever asks.
    """
    outstanding = status.settings.outstanding
    return max(outstanding, status.demand) if outstanding else 0


def open_requests(
    outstanding: Mapping[str, MatchRequest],
    *,
    status: CampaignStatus,
    tables: CampaignTables,
    clock: datetime,
    gold: GoldItems = NO_GOLD,
) -> dict[str, MatchRequest]:
    """Return the outstanding requests, by id, that a judge may still be given.

    A request ends when it expires, when one of its systems is withdrawn, and when the campaign is paused or closed. It
    also ends when a retraction has removed the only judgments of one of its systems, or of its segment.
    """
    if status.state != "open":
        return {}
    systems, segments = tables.systems.index, tables.segments.index

    def is_known(request: MatchRequest) -> bool:
        there = all(system in systems and system not in status.withdrawn for system in request.systems)
        return there and (request.segment is None or request.segment in segments)

    return {
        key: request
        for key, request in outstanding.items()
        if request.expires_at > clock and (gold.includes(request) or is_known(request))
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
    if segments.shared is not None:
        load[segments.shared] = NEVER
    # Against a baseline a segment has a difficulty of its own, which makes it more or less informative.
    automatic = "least" if model.required_system is None else "information"
    if (automatic if settings.segment_choice == "auto" else settings.segment_choice) == "least":
        return [segments.names[segment] for segment in choose_segments(load, count=len(matches))]
    chosen: list[str | None] = []
    for match in matches:
        information = model.segment_information(*match.systems[:2])
        if information is not None and segments.shared is not None:
            information[segments.shared] = -1.0
        (segment,) = choose_segments(load, count=1, information=information)
        load[segment] += 1
        chosen.append(segments.names[segment])
    return chosen


def _choose_outputs(
    matches: Sequence[Match],
    *,
    settings: CampaignSettings,
    model: Model,
    tables: CampaignTables,
    outstanding: Collection[MatchRequest],
) -> list[str | None]:
    """Return a segment for each system to be scored: one on which it was scored and requested least."""
    segments, counts = tables.segments, {}
    for system in {system for match in matches for system in match.systems}:
        counts[system] = model.segment_counts(system, len(segments))
    for request in outstanding:
        asked = counts.get(tables.systems.index[request.systems[0]])
        if asked is not None and request.segment is not None:
            asked[segments.index[request.segment]] += 1
    if segments.shared is not None:
        for count in counts.values():
            count[segments.shared] = NEVER
    chosen: list[str | None] = []
    for match in matches:
        count = counts[match.systems[0]]
        segment = choose_output(count, is_listed=bool(settings.segments))
        if segment is not None:
            count[segment] += 1
        chosen.append(None if segment is None else segments.names[segment])
    return chosen
