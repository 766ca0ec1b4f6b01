"""The leaderboard of one judge over HTTP: rated from the log, for operators, and by pseudonym only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.monitor.http.tokens import entry_of
from streams.offline.ranking import rank
from streams.settings import Settings
from streams.wire.events import Retract
from tests.builders import NOON, crowd_log
from tests.monitor.site import TOKEN, TOKENS, Running, running

NAME, PATH = "campaign-0", "/campaigns/campaign-0/leaderboard"
LOG = crowd_log(80)
MINE = [each for each in LOG if each.judge == LOG[0].judge]
PSEUDONYM = Pseudonyms(b"key")[LOG[0].judge]
READER = "a reader of boards"
SETTINGS = Settings(judge_key="key", monitor_tokens=f"{TOKENS},{entry_of('reader', READER, scopes=['read'])}")


@pytest.fixture
def site() -> Iterator[Running]:
    with running(SETTINGS) as found:
        found.publish(*LOG)
        yield found


def test_the_board_is_that_of_the_judgments_of_the_judge(site: Running) -> None:
    retracted = MINE[0].id
    site.publish(Retract(id="retract", campaign=NAME, at=NOON, judgments=(retracted,)))
    expected = rank([each for each in MINE if each.id != retracted], judge_key="key").reports[0].leaderboard
    for judge in (PSEUDONYM, f"~{PSEUDONYM}"):
        answer = site.ask(f"{PATH}?judge={judge}", headers=TOKEN)
        assert answer.status == 200, answer
        assert answer.json["judgments"] == len(MINE) - 1
        assert [(row["system"], row["score"]) for row in answer.json["rows"]] == [
            (row.system, row.score) for row in expected.rows
        ]
    assert site.ask(f"{PATH}?judge={PSEUDONYM}&scale=elo", headers=TOKEN).json["scale"] == "elo"
    assert site.get(PATH)["judgments"] == len(LOG) - 1, "that of all judgments stays"


@pytest.mark.parametrize(
    ("query", "status", "reason"),
    [
        (f"?judge={LOG[0].judge}", 422, "invalid_value"),  # an id
        (f"?judge={'0' * 20}", 404, "unknown_judge"),
        (f"?judge={PSEUDONYM}&tag=language&value=de", 422, "invalid_value"),
        ("?judge=", 422, "invalid_value"),
    ],
)
def test_an_id_an_unknown_judge_and_a_category_are_refused(site: Running, query: str, status: int, reason: str) -> None:
    answer = site.ask(PATH + query, headers=TOKEN)
    assert (answer.status, answer.json["error"]["reason"]) == (status, reason)
    assert LOG[0].judge not in answer.json["error"]["message"]


def test_it_needs_the_scope_operate_although_anybody_may_read_the_board_of_all(site: Running) -> None:
    assert site.ask(PATH).status == 200
    assert site.ask(f"{PATH}?judge={PSEUDONYM}").status == 401
    reader = {"Authorization": f"Bearer {READER}"}
    assert site.ask(f"{PATH}?judge={PSEUDONYM}", headers=reader).status == 403


def test_one_log_is_read_at_a_time(site: Running) -> None:
    with site.site.queries._reading_log:
        answer = site.ask(f"{PATH}?judge={PSEUDONYM}", headers=TOKEN)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
    assert "ask again later" in answer.json["error"]["message"]
    assert site.ask(f"{PATH}?judge={PSEUDONYM}", headers=TOKEN).status == 200


def test_without_the_key_of_the_workers_the_error_says_so() -> None:
    with running(replace(SETTINGS, judge_key="")) as found:
        found.publish(*LOG)
        answer = found.ask(f"{PATH}?judge={PSEUDONYM}", headers=TOKEN)
        assert answer.status == 503
        assert "JUDGESTREAM_JUDGE_KEY" in answer.json["error"]["message"]
