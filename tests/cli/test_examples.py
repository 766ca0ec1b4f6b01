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
FILES = ("wmt13.csv.gz", "wmt15.csv.gz", "wmt13.fr-en.csv.gz", "arena.jsonl", "votes.jsonl")
ALONE = (
    *("models", "rank", "clusters", "head-to-head", "agreement", "describe", "baseline", "measure", "convert", "diff"),
    *("audit", "completion", "evaluate"),
)


@pytest.mark.long
@pytest.mark.parametrize("example", [example for example in EXAMPLES if example.split()[1] in ALONE])
def test_an_example_that_needs_no_server_runs(example: str, tmp_path: Path) -> None:
    log: list[Judgment] = [
        replace(
            each,
            source="researcher" if each.judge in ("judge-0", "judge-1", "judge-2") else "turker",
            judge="anna" if each.judge == "judge-3" else each.judge,
            tags={"language": "de" if number % 2 else "fr"},
        )
        for number, each in enumerate(crowd_log(60, campaigns=1, systems=5))
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
    (tmp_path / "battles.jsonl").write_text(f'{battle[:-1]}, "response_a": "# A\\n- **b**", "response_b": "c"}}\n')
    (tmp_path / "answers.csv").write_text("left,right,vote,words_left,words_right\nx,y,left,7,5\nx,y,right,3,4\n")
    for name in ("ad-csen-good-stnd-redup.csv", "ad-csen-good-stnd-redup.csv.gz"):
        (tmp_path / name).write_bytes(WMT_ASSESSMENT)
    (tmp_path / "mqm_ted_ende.tsv").write_bytes(MQM)
    words = shlex.split(re.split(r" (?:>>?|\|) ", example)[0], comments=True)[1:]
    with (tmp_path / "arena.jsonl").open("rb") as stdin:
        done = subprocess.run(
            [JUDGESTREAM, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False, stdin=stdin
        )
    assert done.returncode == 0, done.stderr


# Programs in blocks of commands besides judgestream, and where their lines are tested.
TESTED_IN = {
    r"curl ": "tests/monitor/test_docs.py",
    r"make ": "tests/test_readme.py",
    r"(eval \"\$\()?python deploy/servers\.py": "tests/deploy/test_servers.py",
    r"python benchmarks/performance\.py": "tests/bench/test_performance_page.py",
    r"printf ": "tests/core/campaign/test_pseudonyms.py",
    r"export ": "tests/cli/test_examples.py",
}
PROGRAMS = (
    r"(?:curl|make|python|docker|kubectl|promtool|apt-get|pip|git|printf|export|eval|pre-commit|helm|npm|bash"
    r"|kafka-[a-z]+\.sh|redis-cli) "
)
NOT_RUN = re.compile(r"^# not run by tests: (\S.*)$", re.MULTILINE)
MARKED = {"CONTRIBUTING.md": 1, "deploy/README.md": 2, "docs/operations.md": 5}  # blocks that do not run
REASONS = (
    *("needs Docker", "needs Kubernetes", "needs Docker and Prometheus", "needs your own Kafka"),
    "changes this machine",
)


def other_commands() -> list[tuple[Path, str, str]]:
    """Return the page, the block and the line of each command of another program."""
    pages = [*PAGES, Path("CONTRIBUTING.md")]
    return [
        (page, block, line)
        for page in pages
        for block in FENCED.findall(page.read_text())
        for line in block.replace("\\\n", " ").splitlines()
        if re.match(PROGRAMS, line)
    ]


def test_a_command_of_another_program_is_tested_or_says_that_it_is_not() -> None:
    for page, block, line in other_commands():
        mark = NOT_RUN.search(block)
        tested = next((file for start, file in TESTED_IN.items() if re.match(start, line)), None)
        assert (tested and Path(tested).exists()) or mark, f"{page}: {line}\nAdd a line '# not run by tests: REASON'"
        assert not mark or mark[1] in REASONS, f"{page}: {mark and mark[1]} is not one of {REASONS}"


def test_marks_are_few() -> None:
    pages = [*PAGES, Path("CONTRIBUTING.md")]
    assert {str(page): number for page in pages if (number := len(NOT_RUN.findall(page.read_text())))} == MARKED


@pytest.mark.parametrize(
    "line", sorted({line.split("  #")[0] for _, _, line in other_commands() if re.match("export .*openssl", line)})
)
def test_a_key_of_an_example_is_a_key(line: str) -> None:
    done = subprocess.run(
        ["bash", "-ec", f"{line.strip()}; echo $JUDGESTREAM_JUDGE_KEY"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"[0-9a-f]{64}\n", done.stdout)
