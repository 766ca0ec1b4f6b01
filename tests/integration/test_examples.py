"""Every example of the documentation and of the help that needs servers runs on them, in an order that makes sense."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from deploy.ports import free_port
from streams.cli.main import cli
from streams.wire.events import Judgment, encode
from tests.builders import judgment
from tests.cli.test_examples import ALONE, EXAMPLES
from tests.integration.stack import JUDGESTREAM, Stack
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.integration

# `bench` needs no server and takes minutes; tests/cli/commands/test_bench.py runs it on few judgments.
ON_SERVERS = [example for example in EXAMPLES if example.split()[1] not in (*ALONE, "bench")]
# The order in which examples run: each matches one of these patterns. A campaign that exists is deleted before it is
# created again.
ORDER = (
    r"topics",
    r"doctor",
    r"campaign create (?!wmt13)",
    r"campaign create wmt13.*segments.txt",
    r"campaign create wmt13",
    r"campaign set",
    r"replay wmt13.csv.gz --direct",
    r"replay wmt13.csv.gz --wait",
    r"replay wmt15",
    r"replay arena",
    r"rejected list",
    r"campaign withdraw \S+ uedin",
    r"campaign add",
    r"rejected retry --id",
    r"rejected retry .*--dry-run",
    r"rejected retry .*--reason",
    r"campaign show",
    r"leaderboard|pairs|segments",
    r"watch",
    r"campaign (exclude|include)",
    r"campaign suspend",
    r"campaign reinstate",
    r"judges",
    r"campaign retract",
    r"campaign revoke",
    r"campaign withdraw",
    r"campaign (pause|resume)",
    r"rebuild \S+ --dry-run",
    r"rebuild",
    r"simulate trial",
    r"token",
    r"demo",
    r"monitor|worker",
    r"gaps",
    r"copy-log",
    r"campaign forget",
    r"campaign close",
    r"campaign archive",
    r"campaign delete",
    r"simulate wmt13",
)
# An example whose state can't be made here runs too, and is refused with these words.
REFUSED = {"gaps --accept": "is not a gap at which a partition is stopped"}
TOKEN = f"reader:read:*:sha256-{'0' * 64}"
ENDLESS = re.compile(r"judgestream (worker|monitor|watch|demo --serve|replay .*--loop)")


def place(example: str) -> int:
    """Return the place of an example in the order."""
    words = example.removeprefix("judgestream ")
    return next(k for k, pattern in enumerate(ORDER) if re.match(pattern, words))


def write_files(folder: Path) -> None:
    """Write the files that the examples name."""
    systems = ("uedin", "online-A", "online-B", "cmu")
    log = []
    for k in range(1600):
        pair = (systems[k % 4], systems[(k + 1 + k // 4 % 3) % 4])
        log.append(
            Judgment(
                id={100: "7c1f", 101: "7c20"}.get(k, f"id-{k}"),
                campaign="wmt13.fr-en",
                segment=f"s-{k % 50}",
                judge="judge-17" if k in (100, 101) else f"judge-{k * 7 % 30}",
                systems=pair,
                ranks=(1, 2) if k % 3 else (2, 1),
                at=datetime(2026, 4, 1, tzinfo=UTC) + timedelta(minutes=30 * k),
            )
        )
    lines = [encode(each) + b"\n" for each in log]
    for name, campaign in (("wmt13.csv.gz", b"wmt13.fr-en"), ("wmt15.csv.gz", b"wmt15.de-en")):
        (folder / name).write_bytes(b"".join(line.replace(b"wmt13.fr-en", campaign) for line in lines))
    times = [datetime(2026, 4, 1, tzinfo=UTC) + timedelta(seconds=k) for k in range(5)]
    short = [replace(each, campaign="arena", systems=("a", "b"), at=at) for each, at in zip(log, times, strict=False)]
    (folder / "arena.jsonl").write_bytes(b"".join(encode(each) + b"\n" for each in short))
    (folder / "votes.csv.gz").write_bytes(b"".join(lines))
    (folder / "segments.txt").write_text("".join(f"s-{k}\n" for k in range(50)))
    (folder / "gold.jsonl").write_text('{"segment": "s-0", "systems": ["a", "b"], "ranks": [1, 2]}\n')


def publish_tagged(stack: Stack) -> None:
    """Publish judgments of the campaign that has leaderboards by category, and wait until they are rated."""
    tags = {"language": "de", "domain": "news"}
    entries = [replace(judgment(k, campaign="wmt26", segment=f"s-{k}"), tags=tags) for k in range(20)]
    before = stack.records_read()
    stack.publish([(b"wmt26", encode(each)) for each in entries])
    stack.wait_until_read(before + len(entries))


def in_order() -> list[str]:
    """Return the examples in the order in which they run."""
    return sorted(ON_SERVERS, key=lambda each: (place(each), ON_SERVERS.index(each)))


class Examples:
    """Runs examples as a reader would, with the addresses, ids and dates that are right here."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._runner = CliRunner(env=stack.environment)
        self._names = (f"{stack.settings.namespace}-copy-{k}" for k in count())
        self.live = f"{stack.settings.namespace}-live"
        self._fresh = chain([self.live], (f"{stack.settings.namespace}-fresh-{k}" for k in count()))

    def fill_in(self, example: str) -> str:
        """Return the example with the values of this test in place of those of the text."""
        right: dict[str, Callable[[], str]] = {
            r"broker:9092|127\.0\.0\.1:9092": lambda: self._stack.settings.kafka,
            r"--port 8080": lambda: f"--port {free_port(besides=())}",
            r"(?<=namespace )live\b": lambda: self.live,
            r"\blive2\b": lambda: next(self._names),
            r"2026-05-01": lambda: (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d"),
            r"judgments\.v1/3/1042": lambda: self._first("rejected", "list", field="id"),
            r"3f9a61c0d2b84e7715aa": lambda: self._first("judges", "wmt13.fr-en", field="judge"),
            r"^judgestream simulate": lambda: "judgestream simulate --judgments 100",
            r"^judgestream demo(?! --serve)": lambda: "judgestream demo --seconds 0",
            r"^judgestream demo --serve": lambda: "judgestream demo --serve --port 0",
        }
        for pattern, value in right.items():
            if re.search(pattern, example):
                example = re.sub(pattern, value(), example)
        return example

    def run(self, example: str) -> str:
        """Run an example to its end, and return an error or "". Questions are answered with yes."""
        self._prepare(example)
        command = self.fill_in(example)
        if re.search(r" [|>] ", command):
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", re.sub(r"\bjudgestream\b", shlex.quote(str(JUDGESTREAM)), command)],
                **self.surroundings,
                capture_output=True,
                timeout=PATIENCE_SECONDS,
                check=False,
            )
            return f"{done.stdout}{done.stderr}" if done.returncode else ""
        words = shlex.split(command, comments=True)[1:]
        more = {"JUDGESTREAM_NAMESPACE": next(self._fresh)} if words[0] == "topics" else {}
        result = self._runner.invoke(cli, words, env=more)
        if "add --yes" in result.output:
            result = self._runner.invoke(cli, [*words, "--yes"])
        if "boards=" in example:
            publish_tagged(self._stack)
        return f"{result.output}{result.exception!r}" if result.exit_code else ""

    @property
    def surroundings(self) -> dict[str, Any]:
        """Return the options of a process that runs an example."""
        return {"env": self._stack.environment, "cwd": self._stack.folder, "text": True}

    def _prepare(self, example: str) -> None:
        """Take back what an earlier example did, if this one does it again, and wait for what it began."""
        if again := re.match(r"judgestream (?:campaign create|simulate(?= .*--create)) (\S+)", example):
            self._runner.invoke(cli, ["campaign", "delete", again[1], "--yes"])
        if example.startswith("judgestream campaign suspend"):
            both = [word for judge in ("judge-17", "judge-18") for word in ("--judge", judge)]
            self._runner.invoke(cli, ["campaign", "reinstate", "wmt13.fr-en", *both, "--yes"])
        if example.startswith("judgestream rebuild"):
            wait_for(self._is_rated, "the end of the rating that a retraction began")

    def _is_rated(self) -> bool:
        """Return whether no campaign is being rated again."""
        shown = self._runner.invoke(cli, ["campaign", "show", "--json"])
        assert '"quarantine"' in shown.output, shown.output
        return re.search(r'"quarantine": ?\{', shown.output) is None

    def _first(self, *words: str, field: str) -> str:
        """Return a field of the first object that a command prints."""
        found = self._runner.invoke(cli, [*words, "--json"])
        assert found.exit_code == 0, found.output
        name = re.search(rf'"{field}": ?"([^"]+)"', found.output)
        assert name, found.output
        return name[1]


def test_every_example_is_in_the_order_once() -> None:
    assert [example for example in ON_SERVERS if not place(example)] == [
        example for example in ON_SERVERS if example.startswith("judgestream topics")
    ]
    used = {place(example) for example in ON_SERVERS}
    assert [pattern for k, pattern in enumerate(ORDER) if k not in used] == []


def test_examples_run(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(stack.folder)
    monkeypatch.chdir(stack.folder)
    stack.start_worker()
    examples = Examples(stack)
    for example in in_order():
        if ENDLESS.match(example):
            continue
        error = examples.run(example)
        expected = next((words for start, words in REFUSED.items() if example.startswith(f"judgestream {start}")), "")
        assert bool(error) == bool(expected), f"{example}\n{error}"
        assert expected in error, f"{example}\n{error}"


def has_ended_or_printed(process: subprocess.Popen[str], log: Path) -> bool:
    return process.poll() is not None or bool(log.read_text())


def test_examples_that_go_on_until_they_are_stopped_start_and_stop(stack: Stack) -> None:
    write_files(stack.folder)
    examples = Examples(stack)
    stack.start_worker()
    created = stack.command("campaign", "create", "wmt13.fr-en", "--system", "uedin", "--system", "cmu")
    assert created.returncode == 0, created.stderr
    assert stack.command("campaign", "create", "wmt26", "--setting", "boards=language,domain").returncode == 0
    publish_tagged(stack)
    processes: dict[str, subprocess.Popen[str]] = {}
    logs = {}
    try:
        for number, example in enumerate(each for each in in_order() if ENDLESS.match(each)):
            words = shlex.split(examples.fill_in(example).split(" > ")[0])[1:]
            logs[example] = stack.folder / f"example-{number}.log"
            more = examples.surroundings
            more["env"] |= {"JUDGESTREAM_MONITOR_PORT": str(free_port(besides=())), "JUDGESTREAM_MONITOR_TOKENS": TOKEN}
            with logs[example].open("w") as stream:
                processes[example] = subprocess.Popen([JUDGESTREAM, *words], stdout=stream, stderr=stream, **more)
        for example, process in processes.items():
            if " replay " not in example:  # it prints nothing until it is stopped
                wait_for(partial(has_ended_or_printed, process, logs[example]))
            assert process.poll() is None, logs[example].read_text()
        wait_for(lambda: "arena-again" in stack.command("campaign", "show", "--json").stdout)
        for process in processes.values():
            process.send_signal(signal.SIGINT)
        for example, process in processes.items():
            assert process.wait(PATIENCE_SECONDS) in (0, 130), f"{example}\n{logs[example].read_text()}"
            assert "Traceback" not in logs[example].read_text(), example
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
