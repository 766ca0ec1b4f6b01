"""The examples of docs/monitor.md do what they say, on a monitor that knows the campaign."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from streams.settings import Settings
from tests.builders import judgment
from tests.monitor.site import SECRET, Running, running

PAGE = Path("docs/monitor.md").read_text()
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    example
    for block in FENCED.findall(PAGE)
    for example in re.findall(r"^curl .*?(?=^curl |\Z)", block.replace("\\\n", " "), re.DOTALL | re.MULTILINE)
]


@pytest.fixture(scope="module")
def known() -> Iterator[Running]:
    with running() as found:
        found.publish(*(judgment(number, campaign="wmt13.fr-en", segment=f"s-{number}") for number in range(20)))
        found.publish(judgment(20, campaign="wmt13.fr-en", judge="judge-17"))
        yield found


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 12


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_answered(example: str, known: Running) -> None:
    words = iter(shlex.split(example.replace("$TOKEN", SECRET))[1:])
    method, headers, body, address, endless = "GET", {}, None, "", False
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(words).encode()
        elif word == "-N":
            endless = True
        else:
            address = word
    parts = urlsplit(address)
    assert parts.port == Settings().monitor_port
    path = f"{parts.path}?{parts.query}"
    if endless:
        with known.events(path) as events:
            assert next(events).event in ("leaderboard", "overview")
    else:
        answer = known.ask(path, method=method, headers=headers, body=body)
        assert answer.status in (200, 202, 204), answer


@pytest.mark.parametrize("name", [name for name in Settings.__struct_fields__ if name.startswith("monitor_")])
def test_every_setting_of_the_monitor_stands_in_the_docs(name: str) -> None:
    assert f"`{name}`" in Path("docs/operations.md").read_text()
