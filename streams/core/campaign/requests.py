"""Match requests of a campaign: how many to send next, which ones to cancel, and how chosen ones are opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streams.core.campaign.gold import GoldItems
from streams.core.campaign.request_ids import is_signed, signed_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from streams.core.campaign.tables import CampaignTables
    from streams.wire.events import CampaignStatus, MatchRequest

NO_GOLD = GoldItems(())
# Each choice compares all pairs of systems. With very many, later batches choose a part of the requests.
MOST_PAIRS = 400_000_000
FEWEST = 16
# A fit of many systems is dear, so that one fit chooses several requests: one per so many systems, half of all at most.
SYSTEMS_PER_REQUEST = 20
MANY_SYSTEMS = 100  # above it requests are not chosen while a batch waits


def drop_requests(
    outstanding: Mapping[str, MatchRequest],
    *,
    status: CampaignStatus,
    tables: CampaignTables,
    clock: datetime,
    request_key: bytes = b"",
    gold: GoldItems = NO_GOLD,
) -> tuple[dict[str, MatchRequest], tuple[MatchRequest, ...]]:
    """Return the outstanding requests that go on, by id, and those that are to be cancelled."""
    still_open = open_requests(outstanding, status=status, tables=tables, clock=clock, gold=gold)
    if status.settings.requests_only:  # those from before the setting can't be verified
        still_open = {key: each for key, each in still_open.items() if is_signed(each, request_key)}
    if len(still_open) == len(outstanding):
        return still_open, ()
    cancelled = tuple(
        msgspec.structs.replace(request, cancelled=True)
        for key, request in outstanding.items()
        if key not in still_open and request.expires_at > clock
    )
    return still_open, cancelled


def finish_requests(
    chosen: Sequence[MatchRequest],
    outstanding: Mapping[str, MatchRequest],
    *,
    status: CampaignStatus,
    judgments: int,
    seed: Sequence[int],
    request_key: bytes = b"",
    gold: GoldItems = NO_GOLD,
) -> list[MatchRequest]:
    """Return the chosen requests for which there is room, with gold items among them, and signed if need be."""
    new = list(chosen[: count_room(outstanding.values(), status=status, judgments=judgments, gold=gold)])
    if gold.items:
        rate = status.settings.gold_rate
        new = gold.mix_in(new, rate=rate, outstanding=outstanding.values(), seed=seed)
    if status.settings.requests_only:
        new = [msgspec.structs.replace(each, id=signed_id(each.id, each, request_key)) for each in new]
    return new


def count_room(
    outstanding: Iterable[MatchRequest], *, status: CampaignStatus, judgments: int, gold: GoldItems = NO_GOLD
) -> int:
    """Return how many requests the settings or the judges ask for besides those that are outstanding."""
    asked = list(outstanding)
    room = wanted_requests(status) - len(asked)
    if status.settings.budget is not None:
        room = min(room, status.settings.budget - judgments - sum(not gold.includes(each) for each in asked))
    return max(room, 0) if status.state == "open" else 0


def count_missing(
    outstanding: Mapping[str, MatchRequest],
    *,
    status: CampaignStatus,
    systems: int,
    judgments: int,
    gold: GoldItems = NO_GOLD,
) -> int:
    """Return how many requests are to be chosen now.

    With many systems, there are none until several are missing (see `is_short`), and with several hundred, later
    batches choose a part of them.
    """
    wanted = wanted_requests(status)
    if not is_short(wanted - len(outstanding), wanted, systems):
        return 0
    room = count_room(outstanding.values(), status=status, judgments=judgments, gold=gold)
    return min(room, max(FEWEST, MOST_PAIRS // max(1, systems) ** 2))


def next_number(outstanding: Iterable[str], prefix: str) -> int:
    """Return the first number that no id with this prefix has.

    >>> next_number(["log/7/0", "log/7/1/signature", "log/71/9"], "log/7/")
    2
    """
    numbers = (key.removeprefix(prefix).partition("/")[0] for key in outstanding if key.startswith(prefix))
    return 1 + max(map(int, numbers), default=-1)


def is_short(missing: int, wanted: int, systems: int) -> bool:
    """Return whether so many requests are missing that choosing others pays.

    >>> is_short(1, 10, 20), is_short(1, 10, 100), is_short(5, 10, 1000)
    (True, False, True)
    """
    return missing >= min(max(1, systems // SYSTEMS_PER_REQUEST), max(1, (wanted + 1) // 2))


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
    systems, segments, withdrawn = tables.systems.index, tables.segments.index, status.withdrawn
    known = systems.keys() - withdrawn if withdrawn else systems.keys()
    return {
        key: request
        for key, request in outstanding.items()
        if request.expires_at > clock
        and (
            (known >= {*request.systems} and (request.segment is None or request.segment in segments))
            or gold.includes(request)
        )
    }
