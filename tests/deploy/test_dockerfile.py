from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile with its argument, on one line."""
    text = (ROOT / "deploy" / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in joined.splitlines()]


def final_stage() -> list[tuple[str, str]]:
    found = instructions()
    last = max(place for place, (name, _) in enumerate(found) if name == "FROM")
    return found[last:]


def copied() -> list[str]:
    """The paths of the repo that the image is made from."""
    arguments = [argument.split() for name, argument in instructions() if name == "COPY" and "--from" not in argument]
    return [source for words in arguments for source in words[:-1]]


def test_the_image_is_built_in_stages_and_the_last_has_no_build_tools() -> None:
    assert [name for name, _ in instructions()].count("FROM") >= 2
    assert "build-essential" in str(instructions())
    for tool in ("build-essential", "apt-get", "pip install"):
        assert tool not in str(final_stage())


def test_the_image_runs_as_a_user_without_rights_and_with_fixed_numbers() -> None:
    users = [argument for name, argument in final_stage() if name == "USER"]
    assert users == ["10001:10001"]
    assert final_stage().index(("USER", users[0])) < [name for name, _ in final_stage()].index("ENTRYPOINT")


def test_numba_keeps_its_kernels_where_that_user_may_write() -> None:
    (environment,) = [argument for name, argument in final_stage() if name == "ENV"]
    settings = dict(word.split("=", 1) for word in environment.split())
    (made,) = [argument for name, argument in final_stage() if name == "RUN"]
    owned = made.partition("install --directory --owner=10001 --group=10001 ")[2].split()
    assert settings["NUMBA_CACHE_DIR"] in owned


def test_no_secret_and_no_setting_is_baked_in() -> None:
    baked = [argument for name, argument in instructions() if name in ("ENV", "ARG")]
    assert not re.search(r"JUDGESTREAM_|KEY|PASSWORD|SECRET|TOKEN", " ".join(baked))


@pytest.mark.parametrize("source", copied())
def test_what_is_copied_exists_and_reaches_the_build(source: str) -> None:
    assert (ROOT / source).exists()
    assert f"!{source}" in (ROOT / ".dockerignore").read_text().splitlines()


def test_nothing_else_reaches_the_build() -> None:
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in rules
    assert {rule.removeprefix("!") for rule in rules if rule.startswith("!")} == set(copied())


def test_the_image_starts_the_command_that_the_package_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (entry,) = [argument for name, argument in final_stage() if name == "ENTRYPOINT"]
    assert entry == f'["{next(iter(project["scripts"]))}"]'
