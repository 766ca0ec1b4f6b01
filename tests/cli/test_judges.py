"""Commands on judges: by pseudonym or by id, with the number of judgments, and not for one who does not exist."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from streams.cli import campaign_forgetting, stored_campaign
from streams.cli.commands import campaign
from streams.core.campaign.pseudonyms import Pseudonyms
from streams.errors import NoAnswer
from streams.kafka import admin, commands, publishing
from streams.monitor.ledger import redis as redis_ledger
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events
from streams.wire.events import encode
from tests.builders import NOON, judgment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KEY = "key of the workers"
BERT = Pseudonyms(KEY.encode())["bert"]
HEX = "0123456789abcdef0123"  # an id that has the form of a pseudonym
NOBODY = "fedcba9876543210fedc"


@pytest.fixture
def stream() -> Embedded:
    """Return two campaigns. In one of them bert has judged twice, in the other once."""
    stream = Embedded(Settings(judge_key=KEY))
    for number, judge in enumerate(("bert", "anna", "bert", HEX)):
        stream.publish(judgment(number, judge=judge))
    stream.publish(judgment(9, judge="bert", campaign="d"))
    stream.run()
    return stream


@pytest.fixture
def sent(stream: Embedded, monkeypatch: pytest.MonkeyPatch) -> list[events.Command]:
    """Collect the commands that are sent. The embedded stream answers them."""
    found: list[events.Command] = []

    @contextmanager
    def open_store(_: Settings) -> Iterator[MemoryStore]:
        assert isinstance(stream.store, MemoryStore)
        monkeypatch.setattr(stream.store, "client", None, raising=False)
        yield stream.store

    def send(_: Settings, command: events.Command, *, timeout: float) -> events.CampaignStatus:
        assert timeout > 0
        found.append(command)
        stream.publish(command)
        stream.run()
        return stream.campaign(command.campaign).status

    def publish(_: Settings, records: Iterable[tuple[Any, bytes | None, bytes]]) -> int:
        found.extend(msgspec.json.decode(value, type=events.Command) for _, _, value in records)
        return 1

    class Ledger:
        def __init__(self, *_: object, **__: object) -> None: ...

        def forget_judge(self, campaign: str, judge: str) -> None:
            assert judge == BERT
            forgotten.append(campaign)

    forgotten: list[str] = []
    monkeypatch.setenv("JUDGESTREAM_JUDGE_KEY", KEY)
    monkeypatch.setattr(stored_campaign, "open_store", open_store)
    monkeypatch.setattr(campaign_forgetting, "open_store", open_store)
    monkeypatch.setattr(admin, "count_log_partitions", lambda _: 1)
    monkeypatch.setattr(redis_ledger, "RedisLedger", Ledger)
    monkeypatch.setattr(commands, "send_command", send)
    monkeypatch.setattr(publishing, "publish_records", publish)
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(campaign.command, arguments)


@pytest.mark.parametrize(
    ("given", "pseudonym", "words"),
    [
        ("bert", BERT, f"the judge {BERT} (given as an id) has 2 judgments"),
        (BERT, BERT, f"the judge {BERT} (given as a pseudonym) has 2 judgments"),
        (f"~{BERT}", BERT, f"the judge {BERT} (given as a pseudonym) has 2 judgments"),
        (HEX, Pseudonyms(KEY.encode())[HEX], "(given as an id) has 1 judgment\n"),
    ],
)
def test_a_judge_is_found_by_pseudonym_and_by_id(
    stream: Embedded, sent: list[events.Command], given: str, pseudonym: str, words: str
) -> None:
    result = run("exclude", "c", given)
    assert (result.exit_code, words in result.stdout) == (0, True), result.output
    (command,) = sent
    assert isinstance(command, events.ExcludeJudge)
    assert command.judge == f"~{pseudonym}", "an id is not sent"
    assert stream.campaign("c").status.excluded == (pseudonym,)
    retract = run("retract", "c", "--judge", given, "--yes", "--no-wait", "--json")
    assert (retract.exit_code, words.strip() in retract.stderr) == (0, True), retract.output
    assert sent[1].judge == f"~{pseudonym}"  # type: ignore[union-attr]


@pytest.mark.parametrize("command", [("exclude",), ("include",), ("retract", "--yes", "--judge")])
@pytest.mark.parametrize("given", ["berta", NOBODY, f"~{NOBODY}"])
def test_one_who_does_not_exist_is_not_sent(sent: list[events.Command], command: tuple[str, ...], given: str) -> None:
    result = run(command[0], "c", *command[1:], given)
    assert (result.exit_code, sent) == (1, [])
    assert "has no such judge" in result.stderr
    assert "judgestream judges c" in result.stderr
    assert "berta" not in result.stderr
    assert "no campaign 'x'" in run(command[0], "x", *command[1:], given).stderr


def test_one_who_has_not_judged_yet_may_be_excluded_with_a_flag(stream: Embedded, sent: list[events.Command]) -> None:
    assert run("exclude", "c", "berta", "--unseen").exit_code == 0
    stream.publish(judgment(20, judge="berta"))
    stream.run()
    assert stream.campaign("c").counts.rejected == 1
    assert run("include", "c", "berta").exit_code == 0, "excluded, and so known"
    assert len(sent) == 2


def test_an_excluded_judge_is_included_again(stream: Embedded, sent: list[events.Command]) -> None:
    assert run("exclude", "c", "bert").exit_code == 0
    result = run("include", "c", BERT)
    assert "has 2 judgments, and is excluded" in result.stdout
    stream.publish(judgment(20, judge="bert"))
    stream.run()
    assert stream.campaign("c").counts.rejected == 0
    assert stream.store.read_judge("c", BERT).judgments == 3  # type: ignore[union-attr]


def test_without_the_key_a_pseudonym_is_enough_and_an_id_is_refused(
    sent: list[events.Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGESTREAM_JUDGE_KEY")
    result = run("exclude", "c", "bert")
    assert (result.exit_code, sent) == (1, [])
    assert "set JUDGESTREAM_JUDGE_KEY" in result.stderr
    assert run("exclude", "c", BERT).exit_code == 0


def test_a_judge_is_forgotten_in_every_campaign_that_knows_them(stream: Embedded, sent: list[events.Command]) -> None:
    before = stream.campaign("c").leaderboard().rows
    result = run("forget", "bert", "--yes")
    assert result.exit_code == 0, result.output
    assert [(type(each), each.campaign) for each in sent] == [(events.ForgetJudge, "c"), (events.ForgetJudge, "d")]
    assert f"c: the judge {BERT} (given as an id) has 2 judgments" in result.stdout
    assert "copy-log" in result.stderr
    for name in ("c", "d"):
        stored = stream.store.read(name)
        assert stored is not None
        assert BERT not in repr(stored)
    assert stream.campaign("c").leaderboard().rows == before
    again = run("forget", "bert", "--yes")
    assert (again.exit_code, len(sent)) == (1, 2)
    assert "no campaign knows this judge" in again.stderr


def test_forgetting_asks_first_and_takes_campaigns(sent: list[events.Command]) -> None:
    assert run("forget", "bert").exit_code == 2, "there is no terminal to ask on"
    assert not sent
    assert run("forget", BERT, "--campaign", "d", "--yes", "--json").exit_code == 0
    assert [each.campaign for each in sent] == ["d"]
    assert "did you mean" in run("forget", BERT, "--campaign", "dd", "--yes").stderr


def test_a_campaign_that_can_t_be_read_is_named_and_the_others_are_done(
    sent: list[events.Command], stream: Embedded
) -> None:
    assert isinstance(stream.store, MemoryStore)
    stream.store._campaigns["c"].tables["judges"][BERT] = b"broken"
    result = run("forget", "bert", "--yes")
    assert (result.exit_code, [each.campaign for each in sent]) == (1, ["d"])
    assert "✗ c can't be searched" in result.stderr
    assert "c did not forget the judge" in result.stderr


def test_a_campaign_that_does_not_answer_is_named_and_the_others_are_done(
    sent: list[events.Command], stream: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.publish(events.Close(id="close", campaign="d", at=NOON))
    stream.run()
    answer = commands.send_command

    def send(settings: Settings, command: events.Command, *, timeout: float) -> events.CampaignStatus:
        if command.campaign == "c":
            raise NoAnswer("no answer")
        return answer(settings, command, timeout=timeout)

    monkeypatch.setattr(commands, "send_command", send)
    result = run("forget", "bert", "--yes")
    assert (result.exit_code, [each.campaign for each in sent]) == (1, ["d"]), "a closed campaign forgets too"
    assert "run the command again" in result.stderr
    assert BERT not in encode(stream.store.read_meta("d")).decode()
