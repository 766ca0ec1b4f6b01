"""`judgestream campaign` without a server: what would be sent, what is shown, and clear words for wrong use."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from streams.cli import campaign_status
from streams.cli.commands import campaign
from streams.kafka import publishing
from streams.settings import Settings
from streams.wire import events, topics
from streams.wire.events import CampaignSettings

DOCS = Path("docs/campaigns.md")
Outbox = list[tuple[topics.Topic, bytes | None, bytes]]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(campaign.command, arguments)


@pytest.fixture
def outbox(monkeypatch: pytest.MonkeyPatch) -> Outbox:
    """Collect what would be published."""
    sent: Outbox = []

    def publish(settings: Settings, records: Iterable[tuple[topics.Topic, bytes | None, bytes]]) -> int:
        sent.extend(records)
        return len(sent)

    monkeypatch.setattr(publishing, "publish_records", publish)
    return sent


def sent(outbox: Outbox, *arguments: str) -> dict[str, Any]:
    """Run a command that only sends; give what it sent, decoded as a worker would."""
    result = run(*arguments, "--no-wait", "--json")
    assert result.exit_code == 0, result.output
    topic, key, value = outbox.pop()
    command = msgspec.json.decode(value, type=events.Command)
    assert topic is topics.COMMANDS
    assert key == command.campaign.encode()
    assert json.loads(result.stdout) == {"command": command.id}
    found: dict[str, Any] = json.loads(value)
    return found


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (["set", "c", "--budget", "7"], {"action": "change", "settings": {"budget": 7}}),
        (["add", "c", "x y"], {"action": "add", "system": "x y"}),
        (["withdraw", "c", "x"], {"action": "withdraw", "system": "x"}),
        (["pause", "c", "--by", "me"], {"action": "pause", "by": "me"}),
        (["resume", "c"], {"action": "resume", "by": None}),
        (
            ["retract", "c", "--judgment", "1", "--judgment", "2", "--yes"],
            {"action": "retract", "judge": None, "judgments": ["1", "2"]},
        ),
        (
            ["revoke", "c", "--judgment", "1", "--judgment", "2", "--by", "me", "--yes"],
            {"action": "revoke", "judge": None, "judgments": ["1", "2"], "by": "me"},
        ),
        (["close", "c", "--yes"], {"action": "close"}),
    ],
)
def test_each_subcommand_sends_its_command(outbox: Outbox, arguments: list[str], fields: dict[str, Any]) -> None:
    command = sent(outbox, *arguments)
    assert {name: command[name] for name in fields} == fields
    assert command["campaign"] == "c"


def test_commands_have_ids_of_their_own(outbox: Outbox) -> None:
    assert sent(outbox, "pause", "c")["id"] != sent(outbox, "pause", "c")["id"]


def test_a_campaign_s_settings_come_from_flags_and_names(outbox: Outbox, tmp_path: Path) -> None:
    segments = tmp_path / "segments.txt"
    segments.write_text("one\n\n two, too \n")
    settings = sent(
        outbox,
        *("create", "c", "--system", "a,b", "--system", "c", "--model", "grm", "--stop-confidence", "0.9"),
        *("--parameter", "mode=baseline", "--parameter", "beta=2", "--parameter", "x=true"),
        *("--setting", f"segments=@{segments}", "--setting", "request-seconds=60", "--setting", "budget=null"),
    )["settings"]
    expected = {
        "systems": ["a,b", "c"],
        "model": "grm",
        "stop_confidence": 0.9,
        "parameters": {"mode": "baseline", "beta": 2, "x": True},
        "segments": ["one", "two, too"],
        "request_seconds": 60.0,
        "budget": None,
    }
    assert settings == json.loads(events.encode(CampaignSettings())) | expected
    listed = sent(outbox, "create", "c", "--setting", "systems=a, b", "--setting", 'parameters={"beta": 0.5}')[
        "settings"
    ]
    assert (listed["systems"], listed["parameters"]) == (["a", "b"], {"beta": 0.5})


@pytest.mark.parametrize("name", CampaignSettings.__struct_fields__)
def test_every_setting_can_be_given_and_stands_in_the_help(outbox: Outbox, name: str) -> None:
    default = getattr(CampaignSettings(), name)
    listed = list(default) if isinstance(default, tuple) else None
    text = "null" if default is None else str(default) if listed is None else ",".join(map(str, listed))
    given = sent(outbox, "create", "c", "--setting", f"{name}={text}")["settings"][name]
    assert given == (default if listed is None else listed) or name == "baseline"  # which may be called null
    assert re.search(rf"^  {name}\b", run("create", "--help").output, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["crate", "c"], "did you mean 'create'?"),
        (["create", "c", "--setting", "bugdet=3"], "no setting 'bugdet'; did you mean 'budget'?"),
        (["create", "c", "--setting", "budget"], "write NAME=VALUE"),
        (["create", "c", "--budget", "many"], "budget is 'many': Expected `int | null`, got `str`"),
        (["create", "c", "--budget", "0"], "budget is '0': Expected `int` >= 1"),
        (["create", "c", "--budget", "1", "--setting", "budget=2"], "budget is given twice"),
        (["create", "c", "--system", "a", "--setting", "systems=b"], "systems is given twice"),
        (["create", "c", "--system", ""], "`settings.systems[0]` is ''"),
        (["create", "c", "--setting", "segments=@nowhere.txt"], "nowhere.txt: can't be read"),
        (["create", "c", "--setting", "parameters=beta"], "parameters is 'beta'"),
        (["create", "c", "--parameter", "beta"], "--parameter 'beta': write NAME=VALUE"),
        (["create", "no such name"], "`campaign` is 'no such name'"),
        (["add", "c", "\udcff"], "surrogates not allowed"),
        (["create", "c", "--setting", "policy=\udcff"], "surrogates not allowed"),
        (["create", "\udcff"], "surrogates not allowed"),
        (["set", "c"], "nothing to set"),
        (["retract", "c"], "nothing to retract"),
        (["retract", "c", "--judgment", "1"], "add --yes"),
        (["revoke", "c", "--yes"], "Missing option '--judgment'"),
        (["revoke", "c", "--judgment", "1"], "add --yes"),
        (["close", "c"], "add --yes"),
        (["pause", "c", "--timeout", "0"], "--timeout"),
    ],
)
def test_wrong_use_is_exit_code_2_and_nothing_is_sent(outbox: Outbox, arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert not outbox


def test_a_command_above_the_size_limit_is_not_sent(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGESTREAM_MAX_RECORD_BYTES", "1000")
    result = run("create", "c", "--setting", f"segments={','.join(map(str, range(1000)))}")
    assert result.exit_code == 2
    assert "at most 1000 are accepted" in result.output
    assert not outbox


SCRIPT = "import sys; from streams.cli.commands.campaign import command; command(sys.argv[1:], prog_name='campaign')"


@pytest.mark.parametrize(("answer", "words"), [(b"n\n", b"Aborted!"), (b"y\n", b"BrokerUnavailable")])
def test_on_a_terminal_a_close_is_asked_for_first(answer: bytes, words: bytes) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, "close", "c", "--kafka", "127.0.0.1:9"],
            stdin=theirs,
            capture_output=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"c: close the campaign? It will accept no more judgments. This can't be undone. [y/N]" in done.stderr
    assert words in done.stderr
    assert done.returncode == 1


def test_a_status_is_printed_with_every_setting_and_control_characters_are_escaped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = events.CampaignStatus(
        campaign="c",
        state="paused",
        settings=CampaignSettings(systems=("a", "\x1b[31mred", "\u202eb"), segments=tuple(map(str, range(100)))),
        withdrawn=("a",),
        excluded=("0f3a",),
        offset=17,
    )
    campaign_status.print_status(status)
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:])
    assert shown.keys() == {
        "state",
        *CampaignSettings.__struct_fields__,
        "withdrawn",
        "excluded",
        "suspended",
        "offset",
    }
    assert (shown["state"], shown["withdrawn"], shown["excluded"], shown["offset"]) == ("paused", "a", "0f3a", "17")
    assert shown["systems"] == "a, \\x1b[31mred, \\u202eb"
    assert shown["segments"].endswith("18, 19, ... 80 more")
    assert shown["budget"] == "-"


def test_all_campaigns_are_one_line_each_and_nothing_is_cut_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    statuses = {
        name: events.CampaignStatus(
            campaign=name,
            state="open",
            settings=CampaignSettings(systems=systems, policy="[red]uniform"),
            withdrawn=(),
            offset=1,
        )
        for name, systems in (("a" * 100, ()), ("b", ("x", "y")))
    }
    campaign_status.print_statuses(statuses)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0][:2] == ["campaign", "state"]
    assert lines[1:] == [
        ["a" * 100, "open", "trueskill", "[red]uniform", "-", "all", "0", "0"],
        ["b", "open", "trueskill", "[red]uniform", "-", "2", "0", "0"],
    ]
    campaign_status.print_statuses({})
    assert "judgestream campaign create" in capsys.readouterr().out


@pytest.mark.parametrize("name", campaign.command.commands)
def test_every_subcommand_has_help_with_an_example_and_stands_in_the_docs(name: str) -> None:
    output = run(name, "--help").output
    assert "Example" in output
    assert f"judgestream campaign {name} " in output
    assert f"judgestream campaign {name} " in DOCS.read_text()
