"""The monitor's leaderboards by category: they are listed, selected, and do not disturb that of all judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from streams.monitor.backends.records import dispatch
from streams.wire import topics
from streams.wire.events import CampaignSettings, Create, Leaderboard, encode
from streams.wire.leaderboard import Category, leaderboard_key
from tests.builders import NOON, crowd_log, judgment
from tests.waiting import wait_for

if TYPE_CHECKING:
    from datetime import datetime

    from streams.monitor.backends.base import OutputHandler
    from tests.monitor.site import Running

NAME = "campaign-0"
CREATE = Create(id="create", campaign=NAME, at=NOON, settings=CampaignSettings(boards=("language",)))
LOG = [replace(each, tags={"language": "de"} if place % 2 else None) for place, each in enumerate(crowd_log(80))]


def test_boards_are_listed_and_selected(monitor: Running) -> None:
    monitor.publish(CREATE, *LOG, replace(judgment(999, campaign=NAME), tags={"language": "a/b=c & d"}))
    assert monitor.get(f"/campaigns/{NAME}/categories") == {
        "tags": [
            {
                "tag": "language",
                "values": [{"value": "a/b=c & d", "judgments": 1}, {"value": "de", "judgments": 40}],
                "without": 40,
                "other": 0,
            }
        ]
    }
    board = monitor.get(f"/campaigns/{NAME}/leaderboard?tag=language&value=de")
    assert (board["category"], board["judgments"]) == ({"tag": "language", "value": "de"}, 40)
    odd = monitor.get(f"/campaigns/{NAME}/leaderboard?tag=language&value=a%2Fb%3Dc%20%26%20d&scale=elo")
    assert ([row["system"] for row in odd["rows"]], odd["scale"]) == (["a", "b"], "elo")


def test_the_board_of_all_judgments_stays_that_of_all(monitor: Running) -> None:
    monitor.publish(CREATE, *LOG)
    monitor.stream.snapshot()
    wait_for(lambda: monitor.get(f"/campaigns/{NAME}/leaderboard")["judgments"] == 80)
    with monitor.events(f"/campaigns/{NAME}/events") as events:
        boards = (event.data for event in events if event.event == "leaderboard")
        assert next(boards)["category"] is None
    assert monitor.get(f"/campaigns/{NAME}/leaderboard")["category"] is None


def test_records_of_categories_are_not_taken_for_the_board_of_all() -> None:
    taken: list[Leaderboard] = []

    class Handler:
        def on_leaderboard(self, leaderboard: Leaderboard, *, at: datetime) -> None:
            assert at == NOON
            taken.append(leaderboard)

    whole = Leaderboard(campaign=NAME, model="trueskill", sequence=1, offset=1, judgments=1, rows=())
    part = replace(whole, category=Category(tag="language", value="de"))
    for board in (whole, part):
        key = leaderboard_key(NAME, board.category).encode()
        dispatch(cast("OutputHandler", Handler()), topics.LEADERBOARDS.name, key, encode(board), at=NOON)
    assert taken == [whole]


def test_a_category_that_does_not_exist_is_explained(monitor: Running) -> None:
    monitor.publish(CREATE, *LOG, judgment(1, campaign="plain"))
    path = f"/campaigns/{NAME}/leaderboard"
    for query, status, words in (
        ("?tag=language&value=en", 404, "has language 'en'"),
        ("?tag=lang&value=de", 404, "did you mean 'language'"),
        ("?tag=language", 422, "go together"),
        ("?tag=&value=de", 422, "1 to 200 characters"),
    ):
        answer = monitor.ask(path + query)
        assert (answer.status, words in answer.json["error"]["message"]) == (status, True), answer
    answer = monitor.ask("/campaigns/plain/leaderboard?tag=language&value=de")
    assert (answer.status, "setting `boards` is empty" in answer.json["error"]["message"]) == (404, True)
    assert monitor.get("/campaigns/plain/categories") == {"tags": []}
