"""Leaderboards by category under crashes: the state and the last record of each key are those of a calm run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from streams.core.campaign.campaign import Campaign
from streams.wire import topics
from streams.wire.events import CampaignSettings, Create, Leaderboard, Retract, encode
from streams.wire.leaderboard import leaderboard_key
from tests.builders import NOON, crowd_log

if TYPE_CHECKING:
    from streams.wire.events import Command, Judgment
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration

TAGS = ({"language": "de", "domain": "news"}, None, {"language": "fr"}, {"language": "de"}, None)
NAMES = ("campaign-0", "campaign-1")


def tagged(count: int, seed: int) -> list[Judgment]:
    log = crowd_log(count, campaigns=2, seed=seed)
    return [replace(each, tags=TAGS[place % len(TAGS)]) for place, each in enumerate(log)]


def newest(stack: FaultStack) -> dict[str, Leaderboard]:
    """Return the last record of each key, without those that were removed."""
    found: dict[str, bytes | None] = {}
    for records in stack.read(topics.LEADERBOARDS).values():
        found |= {(record.key or b"").decode(): record.value for record in records}
    return {key: msgspec.json.decode(value, type=Leaderboard) for key, value in found.items() if value}


def test_kill_9_and_a_retraction_leave_the_boards_of_a_calm_run(stack: FaultStack) -> None:
    settings = CampaignSettings(boards=("language", "domain"), outstanding=0)
    log = tagged(6000, seed=17)
    news = tuple(each.id for each in log if each.campaign == NAMES[0] and (each.tags or {}).get("domain"))
    events: list[Judgment | Command] = [
        *(Create(id=f"create-{name}", campaign=name, at=NOON, settings=settings) for name in NAMES),
        *log[:4000],
        Retract(id="retract", campaign=NAMES[0], at=NOON, judgments=news),
        *log[4000:],
    ]
    records = [(event.campaign.encode(), encode(event)) for event in events]
    stack.publish(records)
    stack.kill_workers(3, records=len(records))

    calm = stack.undisturbed()
    expected: dict[str, tuple[object, ...]] = {}
    for name in NAMES:
        stored = calm.read(name)
        assert stored is not None
        campaign = Campaign.restore(name, stored)
        boards = campaign.leaderboard(), *campaign.category_leaderboards()
        expected |= {leaderboard_key(name, board.category): (board.judgments, board.rows) for board in boards}
    assert expected.keys() == {
        *NAMES,
        *(f"{name}/language={language}" for name in NAMES for language in ("de", "fr")),
        f"{NAMES[1]}/domain=news",
    }

    def are_emitted() -> bool:
        return {key: (board.judgments, board.rows) for key, board in newest(stack).items()} == expected

    stack.wait_for(are_emitted, "the last record of each key is the board of a calm run")
    stack.assert_undisturbed(records=len(records))
