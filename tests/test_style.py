"""The style of the code: docstrings, names, file sizes and help texts."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import click
import pytest

from streams.cli.main import COMMANDS, cli

FOLDERS = ("streams", "deploy", "reproduction")
MOST_LINES = 300
MOST_HELP = 120
# A docstring says what is returned or done: "Return ...", "Read ...", "Raise ...".
FIRST_WORDS = frozenset({"Give", "Say", "Tell", "Let", "Name", "Put"})
# Retired words, with the word to use instead. They are looked for as a part of any name.
RETIRED = {
    "standing": "status",
    "standings": "status",
    "stray": "rejected_without_campaign",
    "strays": "rejected_without_campaign",
    "tenure": "ownership",
    "tenures": "ownership",
    "hush": "mute",
    "hushed": "muted",
    "manner": "describe_security",
    "door": "intake",
    "exhibition": "demo",
    "obey": "apply",
}
# Words that are right as a part of a name, but not as a whole one.
RETIRED_NAMES = {
    "mark": "last_record_fingerprint",
    "gate": "RequestGuard",
    "look": "snapshot",
    "looks": "snapshots",
    "reads": "queries",
    "replies": "responses",
}
# Words that are right for a value, but not for a function.
RETIRED_FUNCTIONS = {
    "take": "drain_changes, or a verb that says what is done",
    "shown": "quote, or a verb that says what is done",
}
# Kernels, each of which is one loop.
LONG_FILES = re.compile(r"streams/core/kernels/.*")

Sources = Mapping[str, str]  # path to text


@cache
def sources() -> Sources:
    """Read every Python file."""
    files = (file for folder in FOLDERS for file in sorted(Path(folder).rglob("*.py")))
    return {str(file): file.read_text(encoding="utf-8") for file in files}


@cache
def nodes(text: str) -> list[ast.AST]:
    """Return the nodes of the syntax tree of a file."""
    return list(ast.walk(ast.parse(text)))


def walk(texts: Sources) -> Iterator[tuple[str, ast.AST]]:
    """Yield every node of the syntax trees, with its file."""
    for file, text in texts.items():
        for node in nodes(text):
            yield file, node


# -- the checks, each yields a line per violation ------------------------------------------------------------


def wrong_docstrings(texts: Sources) -> Iterator[str]:
    for file, node in walk(texts):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "-").split()[0].rstrip(",.:;")
            if first in FIRST_WORDS:
                yield f"{file}:{getattr(node, 'lineno', 1)}: the docstring begins with {first!r}"


def wrong_names(texts: Sources) -> Iterator[str]:
    for file in texts:
        yield from (f"{file}: {part}: use {use}" for part in Path(file).with_suffix("").parts if (use := better(part)))
    for file, node in walk(texts):
        for name, is_function in defined(node):
            if use := better(name, is_function=is_function):
                yield f"{file}:{getattr(node, 'lineno', 1)}: {name}: use {use}"


def defined(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the names that a node defines, and whether each is a function's."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name, True
        case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name, False
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name, False


def better(name: str, *, is_function: bool = False) -> str | None:
    """Return what to use instead of a name, or None if the name is good.

    >>> better("CampaignStanding"), better("take", is_function=True), better("outstanding")
    ('status', 'drain_changes, or a verb that says what is done', None)
    """
    whole = name.strip("_").lower()
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    by_word = next((RETIRED[word] for word in words if word in RETIRED), None)
    return by_word or RETIRED_NAMES.get(whole) or (RETIRED_FUNCTIONS.get(whole) if is_function else None)


def repeated_classes(texts: Sources) -> Iterator[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for file, node in walk(texts):
        if isinstance(node, ast.ClassDef) and file.startswith("streams/"):
            places[node.name].append(file)
    yield from (f"{name}: {', '.join(found)}" for name, found in sorted(places.items()) if len(found) > 1)


def long_files(texts: Sources) -> Iterator[str]:
    for file, text in texts.items():
        lines = len(text.splitlines())
        if file.startswith("streams/") and lines > MOST_LINES and not LONG_FILES.fullmatch(file):
            yield f"{file}: {lines} lines"


def wrong_help(commands: Iterable[tuple[str, click.Command]]) -> Iterator[str]:
    for name, command in commands:
        for option in command.params:
            if not isinstance(option, click.Option) or option.hidden:
                continue
            place, text = f"{name} {option.opts[-1]}", option.help or ""
            if not text:
                yield f"{place}: no help"
            if len(text) > MOST_HELP:
                yield f"{place}: {len(text)} characters of help"
            if has_default(option) and not option.show_default and "default" not in text:
                yield f"{place}: the default is not shown"


def has_default(option: click.Option) -> bool:
    """Return whether an option has a default that a reader must know. A flag that is off has none."""
    if (option.is_flag and not option.secondary_opts) or option.multiple:
        return False
    return option.default is not None and "UNSET" not in repr(option.default)


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield every command and subcommand, with its full name."""
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {part}", each) for part, each in command.commands.items())


# -- the tests -----------------------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "docstrings": lambda: wrong_docstrings(sources()),
    "names": lambda: wrong_names(sources()),
    "classes": lambda: repeated_classes(sources()),
    "lengths": lambda: long_files(sources()),
    "help": lambda: wrong_help(every_command()),
}


@pytest.mark.parametrize("check", CHECKS)
def test_the_style_holds(check: str) -> None:
    assert list(CHECKS[check]()) == []


BAD = '''"""Tell a story."""

class Standing:
    """A class."""
    mark: int

    def take(self, door):
        """Give it."""
        self.look = door

class _Row: ...
'''


def test_the_checks_find_a_bad_file() -> None:
    texts = {"streams/tenure.py": BAD, "streams/b.py": "class _Row: ...\n" + "\n" * MOST_LINES}
    assert [line.partition(": ")[0] for line in wrong_docstrings(texts)] == [
        "streams/tenure.py:1",
        "streams/tenure.py:7",
    ]
    assert sorted(line.split(": ")[1] for line in wrong_names(texts)) == [
        *("Standing", "door", "look", "mark", "take", "tenure"),
    ]
    assert list(repeated_classes(texts)) == ["_Row: streams/tenure.py, streams/b.py"]
    assert list(long_files(texts)) == ["streams/b.py: 301 lines"]


def test_the_checks_find_bad_help() -> None:
    command = click.Command(
        "bad",
        params=[
            click.Option(["--silent"], default=1),
            click.Option(["--wordy"], help="x" * 121),
            click.Option(["--hidden-default"], default=3, help="A number."),
            click.Option(["--good"], default=3, show_default=True, help="A number."),
            click.Option(["--flag"], is_flag=True, help="A flag."),
        ],
    )
    assert list(wrong_help([("bad", command)])) == [
        "bad --silent: no help",
        "bad --silent: the default is not shown",
        "bad --wordy: 121 characters of help",
        "bad --hidden-default: the default is not shown",
    ]


def test_every_exported_name_exists() -> None:
    packages = [file.parent for file in Path("streams").rglob("__init__.py")]
    for name in (".".join(package.parts) for package in packages):
        module = import_module(name)
        missing = [exported for exported in getattr(module, "__all__", ()) if not hasattr(module, exported)]
        assert not missing, f"{name}: {missing}"
