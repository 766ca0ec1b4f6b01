"""`judgestream models`: the list and the parameters, equal to the tables of the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.core.ranking_models import RANKING_MODELS

PAGE = Path("docs/models.md")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["models", *arguments])


def test_the_list_has_a_line_per_model() -> None:
    result = run()
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["model", "live", "assumes", "cost", "choose", "it"]
    assert [line.split()[:2] for line in lines] == [[name, each.live_text] for name, each in RANKING_MODELS.items()]
    assert all(each.card.choose in line for line, each in zip(lines, RANKING_MODELS.values(), strict=True))


@pytest.mark.parametrize("name", RANKING_MODELS)
def test_a_model_shows_its_parameters_with_bounds_defaults_and_meaning(name: str) -> None:
    result = run(name)
    assert result.exit_code == 0
    model = RANKING_MODELS[name]
    assert model.card.assumes in result.stdout
    assert ", ".join(model.ranges) in result.stdout
    for parameter in model.parameters():
        row = next(line for line in result.stdout.splitlines() if line.startswith(f"{parameter.name} "))
        assert all(part in row for part in (parameter.values, parameter.default, parameter.meaning))
    assert ("It has no parameters." in result.stdout) is (not model.parameters())


def test_json_has_all_of_it() -> None:
    models = json.loads(run("--json").stdout)["models"]
    assert [each["name"] for each in models] == list(RANKING_MODELS)
    (elo,) = json.loads(run("elo", "--json").stdout)["models"]
    assert (elo["live"], elo["baseline"], elo["ranges"], elo["runs"]) == (False, False, ["bootstrap"], 100)
    assert elo["parameters"][0] | {"meaning": ""} == {
        "name": "k",
        "values": "above 0, up to 1e+06",
        "default": "16",
        "meaning": "",
    }


def test_a_wrong_name_is_exit_code_2_and_the_right_one_is_named() -> None:
    result = run("eol")
    assert result.exit_code == 2
    assert "no model 'eol'; did you mean 'elo'?" in result.stderr


def test_the_page_has_the_same_list() -> None:
    lines = [
        f"| [`{name}`](#{re.sub('[^a-z0-9-]', '', name)}) | {each.live_text} | {each.card.assumes} "
        f"| {each.card.cost} | {each.card.choose} |"
        for name, each in RANKING_MODELS.items()
    ]
    page = PAGE.read_text()
    assert "\n".join(lines) in page, "docs/models.md, the list must be:\n" + "\n".join(lines)


@pytest.mark.parametrize("name", RANKING_MODELS)
def test_the_page_has_a_section_per_model_with_its_parameters(name: str) -> None:
    model = RANKING_MODELS[name]
    section = PAGE.read_text().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert section
    assert model.card.reference in section
    for each in model.parameters():
        line = f"| `{each.name}` | {each.values} | {each.default} | {each.meaning} |"
        assert line in section or "parameters of `trueskill`" in section, line
