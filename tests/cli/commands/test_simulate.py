"""`judgestream simulate`, as far as it goes without a broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.cli.commands import simulate
from streams.errors import BrokerUnavailable
from streams.wire.events import encode
from tests.builders import crowd_log


def run(*arguments: object) -> Result:
    return CliRunner().invoke(simulate.command, ["trial", "--kafka", "127.0.0.1:9", *(str(each) for each in arguments)])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(30, campaigns=2)))
    return file


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--careless", "0.6", "--adversarial", "0.5"], "add up to more than 1"),
        (["--systems", "4", "--skills", "skills.csv"], "can't be combined; choose one"),
        (["--setting", "budget=7"], "--setting needs --create"),
        (["--create", "--setting", "bugdet=7"], "no setting 'bugdet'; did you mean 'budget'?"),
        (["--create", "--setting", "budget=0"], "budget is '0'"),
        (["--favourite", "KTI"], "no system 'KTI'; did you mean 'KIT'?"),
        (["--oracle-campaign", "campaign-1"], "--oracle-campaign needs --oracle"),
        (["--slow", "2"], "Invalid value for '--slow'"),
        (["--judgments", "0"], "Invalid value for '--judgments'"),
    ],
)
def test_wrong_use_is_exit_code_2_and_says_what_is_right(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_of_a_log_with_several_campaigns_one_must_be_chosen(log: Path) -> None:
    result = run("--oracle", log)
    assert result.exit_code == 2
    assert "has 2 campaigns: campaign-0, campaign-1; choose one with --oracle-campaign" in " ".join(
        result.stderr.split()
    )
    result = run("--oracle", log, "--oracle-campaign", "campaign-7")
    assert result.exit_code == 2
    assert "no campaign 'campaign-7' in the log; did you mean 'campaign-" in " ".join(result.stderr.split())


@pytest.mark.parametrize("create", [[], ["--create"]])
def test_without_a_broker_it_says_so(create: list[str], log: Path) -> None:
    result = run("--oracle", log, "--oracle-campaign", "campaign-1", *create)
    assert isinstance(result.exception, BrokerUnavailable)
    assert str(result.exception).startswith("Kafka at 127.0.0.1:9 does not answer")
