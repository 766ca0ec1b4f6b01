"""Every example in the documentation and in the help is right: all are parsed, and those without a server are run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

from streams import rank
from streams.cli.main import cli
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log
from tests.formats.samples import MQM, WMT_ASSESSMENT

PAGES = sorted([*Path("docs").glob("*.md"), Path("README.md"), Path("deploy/README.md")])
JUDGESTREAM = Path(sys.executable).with_name("judgestream")
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def examples_of(text: str) -> list[str]:
    """Find the commands in a text, each as its shell would read it from the program's name on."""
    lines = text.replace("\\\n", " ").splitlines()
    found = [re.search(r"(?:^|[|=)] ?| )(judgestream(?: .*)?)$", line.split("  #")[0].strip()) for line in lines]
    return [match[1].rstrip(" &") for match in found if match]


def documented() -> list[str]:
    return [example for page in PAGES for block in FENCED.findall(page.read_text()) for example in examples_of(block)]


def helped() -> list[str]:
    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    groups = [command for command in commands.values() if isinstance(command, click.Group)]
    every = [*commands.values(), *(command for group in groups for command in group.commands.values())]
    return [example for command in every if command for example in examples_of(command.epilog or "")]


EXAMPLES = sorted({*documented(), *helped()})


def test_there_are_examples_of_every_command() -> None:
    assert {shlex.split(example, comments=True)[1] for example in EXAMPLES} == set(
        cli.list_commands(click.Context(cli))
    )


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_understood(example: str) -> None:
    words = re.split(r" (?:>>?|\|) ", example)[0]
    arguments = shlex.split(words, comments=True)[1:]
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        found = command.get_command(context, arguments[0])
        assert found is not None, arguments[0]
        command, arguments = found, arguments[1:]
    with suppress(click.exceptions.Exit):  # an option that is an answer of its own, like --list
        command.make_context("example", arguments, parent=context)


# The files that examples name, and what is in them.
FILES = ("wmt13.csv.gz", "wmt15.csv.gz", "wmt13.fr-en.csv.gz", "arena.jsonl")
ALONE = (
    *("models", "rank", "clusters", "head-to-head", "agreement", "describe", "baseline", "measure", "convert", "diff"),
    *("audit", "completion", "evaluate"),
)


@pytest.mark.long
@pytest.mark.parametrize("example", [example for example in EXAMPLES if example.split()[1] in ALONE])
def test_an_example_that_needs_no_server_runs(example: str, tmp_path: Path) -> None:
    log: list[Judgment] = [
        replace(each, source="researcher" if each.judge in ("judge-0", "judge-1", "judge-2") else "turker")
        for each in crowd_log(60, campaigns=1, systems=5)
    ]
    names = {"wmt13.csv.gz": "wmt13.fr-en", "wmt15.csv.gz": "wmt15.de-en"}
    for name in FILES:
        campaign = names.get(name, "wmt13.fr-en")
        lines = [encode(entry).replace(b"campaign-0", campaign.encode()) for entry in log]
        (tmp_path / name).write_bytes(b"\n".join(lines) + b"\n")
    scores = [replace(each, systems=each.systems[:1], ranks=None, score=float(k)) for k, each in enumerate(log)]
    (tmp_path / "scores.jsonl").write_bytes(b"\n".join(map(encode, scores)))
    battle = '{"model_a": "x", "model_b": "y", "winner": "model_a", "judge": "j", "question_id": "1"}'
    (tmp_path / "segments.txt").write_text("\n".join(dict.fromkeys(each.segment for each in log[:30])))
    (tmp_path / "controls.csv").write_text(f"segment,better,worse\n{log[0].segment},system-0,system-4\n")
    (tmp_path / "samples").symlink_to(Path("samples").resolve())
    (tmp_path / "bleu.csv").write_text("system,score\n" + "".join(f"system-{k},0.{k}\n" for k in range(5)))
    (tmp_path / "predictions.csv").write_text("hter,gold\n1,2\n2,2\n3,5\n4,4\n")
    (tmp_path / "words.tsv").write_text("label\tgold\nkeep\tkeep\nchange\tkeep\n")
    boards = rank(log, until=30).leaderboards
    (tmp_path / "before.json").write_bytes(encode({"campaigns": boards}))
    (tmp_path / "battles.json").write_text(f"[{battle}]")
    (tmp_path / "votes.csv").write_text(
        "system_1,system_2,preferred,rater,prompt_id\nx,y,left,anna,1\ny,x,right,ben,1\nx,y,both,ben,2\n"
    )
    for name in ("ad-csen-good-stnd-redup.csv", "ad-csen-good-stnd-redup.csv.gz"):
        (tmp_path / name).write_bytes(WMT_ASSESSMENT)
    (tmp_path / "mqm_ted_ende.tsv").write_bytes(MQM)
    words = shlex.split(re.split(r" (?:>>?|\|) ", example)[0], comments=True)[1:]
    with (tmp_path / "arena.jsonl").open("rb") as stdin:
        done = subprocess.run(
            [JUDGESTREAM, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False, stdin=stdin
        )
    assert done.returncode == 0, done.stderr
