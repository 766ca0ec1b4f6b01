"""The past of a campaign: its board at an offset is the one that was published there, to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.core.models import MODELS
from streams.errors import JudgestreamError
from streams.pipeline.embedded import Embedded
from streams.pipeline.one_judge import LogOfOneJudge, options_of_one_judge
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.past import rate_until
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import Leaderboard, encode
from tests.builders import NOON, crowd_log, judgment
from tests.faulty_model import faulty

if TYPE_CHECKING:
    from streams.core.campaign.campaign import Campaign

NAME = "campaign-1"
SETTINGS = Settings(judge_key="key", batch_records=7, max_undecodable_in_a_row=1)
COMMON: Any = {"campaign": NAME, "at": NOON}
CROWD = crowd_log(80, campaigns=2, systems=5, ways=3)
MINE = [each for each in CROWD if each.campaign == NAME]
JUDGE = "~" + Pseudonyms(b"key")[MINE[3].judge]
LOG: list[events.Judgment | events.Command] = [
    events.Create(id="create", settings=events.CampaignSettings(outstanding=2, budget=40), **COMMON),
    *CROWD[:20],
    events.Change(id="budget", settings={"budget": 30}, **COMMON),
    MINE[2],  # a duplicate
    *CROWD[20:30],
    events.SuspendJudges(id="suspend", judges=(JUDGE,), **COMMON),
    *CROWD[30:40],
    events.Retract(id="retract", judgments=(MINE[0].id, MINE[7].id), **COMMON),
    *CROWD[40:50],
    events.ReinstateJudges(id="reinstate", judges=(JUDGE,), **COMMON),
    events.WithdrawSystem(id="withdraw", system="system-4", **COMMON),
    *CROWD[50:60],
    events.Delete(id="delete", **COMMON),
    judgment(500, campaign=NAME),
    *CROWD[60:],
    events.Close(id="close", **COMMON),
]


@pytest.fixture(scope="module")
def stream() -> Embedded:
    """Return a stream that has rated the log record by record, and has published each leaderboard."""
    stream = Embedded(SETTINGS)
    for event in LOG:
        stream.publish(event)
        stream.run()
        stream.snapshot()
    return stream


def published(stream: Embedded) -> list[Leaderboard]:
    values = [record.value for record in stream.log.all(topics.LEADERBOARDS.name) if record.key == NAME.encode()]
    boards = [msgspec.json.decode(value, type=Leaderboard) for value in values if value]
    return [board for board in boards if board.pending is None]  # others say that the next command is in progress


def past(stream: Embedded, offset: int, name: str = NAME, judge: str | None = None) -> Campaign | None:
    options = ProcessorOptions.from_settings(stream.settings)
    read_log = stream.processors[0]._read_log
    assert read_log is not None
    return rate_until(
        offset + 1,
        name,
        topic=topics.JUDGMENTS.name,
        partition=0,
        store=MemoryStore(),
        options=options if judge is None else options_of_one_judge(options, judge),
        read_log=read_log if judge is None else LogOfOneJudge(read_log, name, options),
    )


def test_the_board_at_an_offset_is_the_one_that_was_published_there(stream: Embedded) -> None:
    boards = published(stream)
    assert len(boards) > 30
    for board in boards:
        campaign = past(stream, board.offset)
        assert campaign is not None
        assert encode(campaign.leaderboard()) == encode(board)


def test_boards_by_category_with_changed_verdicts_are_those_that_were_published_there() -> None:
    tags = ({"language": "de"}, {"language": "fr"}, None)
    log: list[events.Judgment | events.Command] = [
        msgspec.structs.replace(each, campaign=NAME, tags=tags[place % 3])
        for place, each in enumerate(crowd_log(50, systems=5))
    ]
    for place in (20, 28, 36):
        of = log[place - 8]
        assert isinstance(of, events.Judgment)
        log.insert(place, msgspec.structs.replace(of, id=f"new-{place}", ranks=(1, 1), tags=tags[0], replaces=of.id))
    log.insert(40, events.RevokeVerdicts(id="revoke", judgments=(log[35].id,), **COMMON))
    settings = events.CampaignSettings(boards=("language",), outstanding=0)
    stream = Embedded(SETTINGS)
    for event in (events.Create(id="create", settings=settings, **COMMON), *log):
        stream.publish(event)
        stream.run()
        stream.snapshot()
    kinds = set()
    for record in stream.log.all(topics.LEADERBOARDS.name):
        board = msgspec.json.decode(record.value or b"", type=Leaderboard)
        if board.pending is None:
            campaign = past(stream, board.offset)
            assert campaign is not None
            there = (campaign.leaderboard(), *campaign.category_leaderboards())
            assert record.value in [encode(each) for each in there]
            kinds.add((board.category and board.category.value, campaign.counts.taken_back))
    assert kinds >= {(value, taken_back) for value in (None, "de") for taken_back in (0, 1, 4)}


def test_the_board_of_one_judge_has_what_counts_of_their_judgments() -> None:
    stream = Embedded(SETTINGS)
    crowd = [
        msgspec.structs.replace(each, campaign=NAME, judge=each.judge if place % 4 else "anna")
        for place, each in enumerate(crowd_log(160, systems=5, ways=3))
    ]
    own = [each for each in crowd if each.judge == "anna"]  # more than the share, which is of all judgments
    changed = msgspec.structs.replace(own[1], id="new", ranks=(own[1].ranks or ())[::-1], replaces=own[1].id)
    log: list[events.Judgment | events.Command] = [
        events.Create(id="create", settings=events.CampaignSettings(judge_share=0.3, outstanding=0), **COMMON),
        *crowd[:100],
        events.Change(id="share", settings={"judge_share": 0.2}, **COMMON),
        *crowd[100:],
        changed,
        events.RevokeVerdicts(id="revoke", judgments=(own[2].id,), **COMMON),
        events.Retract(id="retract", judgments=(own[0].id,), **COMMON),
    ]
    for event in log:
        stream.publish(event)
    stream.run()
    found = past(stream, len(log) - 1, judge=Pseudonyms(b"key")["anna"])
    assert found is not None
    alone = Embedded(SETTINGS)
    for event in (*own[3:], msgspec.structs.replace(changed, replaces=None)):
        alone.publish(event)
    alone.run()
    board, expected = found.leaderboard(), alone.campaign(NAME).leaderboard()
    assert len(own) == 40
    assert (board.rows, board.judgments, board.judges) == (expected.rows, 38, 1)


def test_the_board_of_one_judge_has_nothing_that_the_campaign_has_not_counted() -> None:
    stream = Embedded(SETTINGS)
    of_ben, of_anna = judgment(1, judge="ben"), judgment(2, judge="anna")
    foreign = msgspec.structs.replace(judgment(4, judge="anna"), replaces=of_ben.id, ranks=(2, 1))
    begins = msgspec.structs.replace(judgment(5, judge="ben"), replaces="id-0")  # from now on, verdicts are remembered
    for event in (begins, of_ben, of_anna, msgspec.structs.replace(of_ben, judge="anna"), foreign):
        stream.publish(event)
    stream.run()
    everybody = stream.campaign("c")
    assert (everybody.counts.judgments, everybody.counts.duplicates, everybody.counts.rejected) == (3, 1, 1)
    found = stream.campaign_of_judge("c", Pseudonyms(b"key")["anna"])
    assert found is not None
    assert (found.counts.judgments, found.tables.wins[:2, :2].tolist()) == (1, [[0, 1], [0, 0]])
    assert found.leaderboard().left_out == {}


def test_only_commands_up_to_the_offset_count(stream: Embedded) -> None:
    places = {event.id: offset for offset, event in enumerate(LOG)}
    before, after = (past(stream, places["retract"] + step) for step in (-1, 0))
    assert before is not None
    assert after is not None
    assert (before.counts.retracted, after.counts.retracted) == (0, 2)
    suspended = past(stream, places["suspend"])
    assert suspended is not None
    assert suspended.leaderboard().left_out["suspended"] > 0
    reinstated = past(stream, places["reinstate"])
    assert reinstated is not None
    assert "suspended" not in reinstated.leaderboard().left_out
    deleted = past(stream, places["delete"])
    assert deleted is not None
    assert deleted.status.state == "deleted"


def test_a_campaign_that_no_record_had_opened_is_none(stream: Embedded) -> None:
    assert past(stream, 0, "campaign-0") is None
    assert past(stream, -1) is None


def test_records_that_can_t_be_decoded_do_not_stop_it() -> None:
    stream = Embedded(SETTINGS)
    stream.publish(judgment(0))
    for _ in range(5):
        stream.log.append(topics.JUDGMENTS.name, b"c", b"{")
    stream.publish(judgment(1))
    found = past(stream, 6, "c")
    assert found is not None
    assert found.counts.judgments == 2


def test_a_campaign_on_which_this_code_fails_is_an_error(stream: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "trueskill", faulty("apply"))
    with pytest.raises(JudgestreamError, match="quarantine"):
        past(stream, 20)
