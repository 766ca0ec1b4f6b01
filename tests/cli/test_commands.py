"""The command line: light to start, documented, and clear about wrong use."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from streams.cli.main import COMMANDS, OLD_NAMES, SECTIONS, cli

JUDGESTREAM = Path(sys.executable).with_name("judgestream")
DOCS = [*Path("docs").glob("*.md"), Path("README.md")]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [JUDGESTREAM, *arguments], capture_output=True, text=True, timeout=60, check=False, env=environment
    )


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom streams.cli.main import cli\n"
        "cli(['--help'], standalone_mode=False)\n"
        "print(sorted({'numpy', 'numba', 'faust', 'aiokafka', 'redis', 'rich', 'msgspec'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("chosen", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "4"}, "4")])
def test_matrices_are_computed_in_one_thread_unless_the_user_wants_more(chosen: dict[str, str], threads: str) -> None:
    code = "import os, streams.cli.main\nprint(os.environ['OPENBLAS_NUM_THREADS'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=chosen)
    assert done.stdout == f"{threads}\n"


def test_help_groups_the_commands_and_imports_none_of_them() -> None:
    code = (
        "import sys\nfrom streams.cli.main import cli\n"
        "cli(['--help'], standalone_mode=False)\n"
        "print([name for name in sys.modules if name.startswith('streams.cli.commands')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    lines = done.stdout.splitlines()
    assert lines[-1] == "[]"
    assert [line for line in lines if line.endswith(":") and not line.startswith(("Options", " "))] == [
        f"{heading}:" for heading in SECTIONS
    ]
    assert [heading.split()[0] for heading in SECTIONS] == ["Files", "Campaigns", "Services", "Lab"]
    assert all(f"  {name} " in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_still_runs_its_command_but_is_not_listed(old: str) -> None:
    assert cli.get_command(click.Context(cli), old) is cli.get_command(click.Context(cli), OLD_NAMES[old])
    result = CliRunner().invoke(cli, [old, "--help"])
    assert result.exit_code == 0
    assert f"judgestream {OLD_NAMES[old]}" in result.output
    assert old not in CliRunner().invoke(cli, ["--help"]).output.split()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0
    assert re.search("Examples?:", result.output)
    assert f"judgestream {name}" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_stands_in_the_docs(name: str) -> None:
    assert any(f"judgestream {name}" in page.read_text() for page in DOCS)


def test_every_command_can_be_loaded() -> None:
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        assert command.name == name


def test_a_wrong_command_is_exit_code_2_and_the_right_one_is_named() -> None:
    done = run("wroker")
    assert done.returncode == 2
    assert "did you mean 'worker'?" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["worker", "--batch-records", "many"], {}, "batch_records is 'many'"),
        (["topics", "--partitions", "0"], {}, "partitions is '0'"),
        (["topics", "--config", "nowhere.toml"], {}, "nowhere.toml: can't be read"),
        (["doctor"], {"JUDGESTREAM_KAFAK": "x"}, "did you mean 'JUDGESTREAM_KAFKA'?"),
    ],
)
def test_a_wrong_setting_is_exit_code_2_and_named(
    arguments: list[str], environment: dict[str, str], words: str
) -> None:
    done = run(*arguments, **environment)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_the_distribution_s() -> None:
    assert run("--version").stdout.startswith("judgestream 0.")


def test_a_worker_without_servers_says_so_in_one_line() -> None:
    done = run("worker", "--kafka", "127.0.0.1:9", "--redis", "redis://127.0.0.1:9/0", JUDGESTREAM_JUDGE_KEY="k")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: Redis at redis://127.0.0.1:9/0 does not answer")
    assert len(done.stderr.splitlines()) == 1


def test_the_doctor_without_servers_says_what_to_do() -> None:
    done = run("doctor", "--json", "--kafka", "127.0.0.1:9", "--redis", "redis://127.0.0.1:9/0")
    assert done.returncode == 1
    findings = {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert not findings["Kafka"]["well"]
    assert "deploy/servers.py start" in findings["Redis"]["fix"]
