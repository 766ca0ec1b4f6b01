"""Judges by id and by pseudonym: the same state, on every way into a campaign."""

from __future__ import annotations

import hmac
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

import streams
from streams import wire_pseudonym
from streams.core.campaign import pseudonyms
from streams.core.campaign.pseudonyms import Pseudonyms, forgotten_name, is_pseudonym
from streams.core.ranking.grouped_counts import group_of
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events
from streams.wire.events import Judgment, encode
from tests.builders import NOON, crowd_log, judgment
from tests.state_hash import state_hash

KEY = "a key"
Event = Judgment | events.Command
LOG: list[Event] = [
    *crowd_log(80, seed=3, ways=3),
    events.ExcludeJudge(id="exclude", campaign="campaign-0", at=NOON, judge="judge-3"),
    *crowd_log(160, seed=3, ways=3)[80:],
    events.Retract(id="retract", campaign="campaign-0", at=NOON, judge="judge-2"),
    events.IncludeJudge(id="include", campaign="campaign-0", at=NOON, judge="judge-3"),
    *crowd_log(200, seed=3, ways=3)[160:],
    events.ForgetJudge(id="forget", campaign="campaign-0", at=NOON, judge="judge-4"),
    *crowd_log(240, seed=3, ways=3)[200:],
]


def on_the_wire(event: Event) -> Event:
    judge = getattr(event, "judge", None)
    return event if judge is None else structs.replace(event, judge=wire_pseudonym(judge, KEY))


def test_a_pseudonym_is_the_documented_hash_and_stays_one() -> None:
    expected = hmac.new(b"a key", b"al\xc3\xafce", "sha256").hexdigest()[:20]
    assert wire_pseudonym("alïce", KEY) == f"~{expected}"
    assert wire_pseudonym(f"~{expected}", "another key") == f"~{expected}"
    assert Pseudonyms(b"any")[f"~{expected}"] == expected


@pytest.mark.parametrize(
    "judge", ["~", "~alice", f"~{'0' * 19}", f"~{'0' * 21}", f"~{'A' * 20}", "0" * 20, f"~{'0' * 20}\n", f"~{'٣' * 20}"]
)
def test_anything_else_is_an_id(judge: str) -> None:
    found = Pseudonyms(b"key")[judge]
    assert is_pseudonym(found)
    assert found not in judge


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudonyms, "MOST_CACHED", 10)
    found = Pseudonyms(b"key")
    for number in range(100):
        assert found[f"judge-{number}"] == Pseudonyms(b"key")[f"judge-{number}"]
    assert len(found) <= 10


@pytest.mark.parametrize("batch", [1, 7, 2000])
def test_a_log_with_ids_and_one_with_pseudonyms_give_the_same_bits(batch: int) -> None:
    """In batches of one the records go one by one, and else in bulk where no command is among them."""
    hashes = set()
    for log in (LOG, [on_the_wire(event) for event in LOG]):
        store = MemoryStore()
        stream = Embedded(Settings(judge_key=KEY, batch_records=batch), store=store)
        for event in log:
            stream.publish(event)
        stream.run()
        assert stream.counts().rejected > 0
        hashes.add(state_hash(store, ["judgments.v1/0"]))
    assert len(hashes) == 1


@pytest.mark.parametrize("model", ["trueskill", "trueskill-judges", "grm"])
def test_a_file_with_ids_and_one_with_pseudonyms_give_the_same_board(tmp_path: Path, model: str) -> None:
    """A file is scanned into columns."""
    log = crowd_log(3000, seed=4)
    boards = []
    for number, judgments in enumerate((log, map(Pseudonyms(KEY.encode()).replace_judge, log))):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(b"\n".join(map(encode, judgments)))
        boards.append(streams.rank(str(file), model=model).leaderboards)
    assert boards[0] == boards[1]


def test_the_name_of_a_forgotten_judge_looks_like_a_pseudonym_and_is_new_for_each_command() -> None:
    names = {forgotten_name(campaign, command, "judge") for campaign in "cd" for command in "12"}
    assert len(names) == 4
    assert all(map(is_pseudonym, names))
    assert set(map(group_of, names)) == {group_of("judge")}, "the counts stay in their groups"


def test_a_judgment_is_published_with_the_pseudonym_and_nothing_else_changes() -> None:
    replaced = Pseudonyms(b"a key").replace_judge(judgment(1, judge="alice", request="r"))
    assert replaced == judgment(1, judge=wire_pseudonym("alice", KEY), request="r")


def test_the_snippets_of_the_docs_make_the_same_pseudonym() -> None:
    snippets = re.findall(r"```(python|sh)\n(.*?)```", Path("docs/privacy.md").read_text(), re.DOTALL)
    assert [language for language, _ in snippets] == ["python", "python", "sh"]
    for language, code in snippets:
        command = [sys.executable, "-c", f"{code}\nprint(judge)"] if language == "python" else ["sh", "-c", code]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert found == f"{wire_pseudonym('alice', 'the judge key')}\n"
