"""`judgestream rank --control`: the board with and without features of the outputs, and their coefficients."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import streams
from streams.cli.main import cli

LENGTHS = {"short": 300, "middle": 500, "long": 900}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["rank", *map(str, arguments)])


def battles(number: int = 1200, *, seed: int = 1) -> list[dict[str, object]]:
    """Return battles of equal systems. The longer output wins more often."""
    draw = random.Random(seed)
    rows: list[dict[str, object]] = []
    for k in range(number):
        a, b = draw.sample(sorted(LENGTHS), 2)
        one, other = (max(1, round(draw.gauss(LENGTHS[name], 150))) for name in (a, b))
        t = 2.0 * (one - other) / (one + other) + draw.gauss(0.0, 1.0)
        winner = "model_a" if t > 0.3 else "model_b" if t < -0.3 else "tie"
        rows.append(
            {"id": f"q{k}", "model_a": a, "model_b": b, "winner": winner, "judge": f"j{draw.randrange(20)}"}
            | {"length_a": one, "length_b": other, "bold_a": 1, "bold_b": 1}
        )
    return rows


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    with path.open("w", newline="") as stream:
        table = csv.DictWriter(stream, rows[0])
        table.writeheader()
        table.writerows(rows)
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("log") / "battles.csv", battles())


def controlled(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)["campaigns"][0]
    return found


def test_equal_systems_with_long_outputs_are_level_when_length_is_controlled(log: Path) -> None:
    found = controlled(log, "--control", "length")
    assert [row["system"] for row in found["rows"]] == ["long", "middle", "short"]
    assert {row["cluster"] for row in found["rows"]} == {1, 2, 3}
    assert {row["cluster"] for row in found["control"]["leaderboard"]["rows"]} == {1}
    (effect,) = found["control"]["features"]
    assert effect["feature"] == "length"
    assert 0 < effect["low"] < effect["coefficient"] < effect["high"]
    assert 0 < effect["judge_low"] < effect["coefficient"] < effect["judge_high"]
    assert effect["win_share"] > 0.7


def test_the_board_without_control_is_that_of_rank(log: Path) -> None:
    found = controlled(log, "--control", "length")
    del found["control"]
    assert found == json.loads(run(log, "--json").stdout)["campaigns"][0]


def test_the_order_of_the_log_and_of_the_sides_does_not_matter(log: Path, tmp_path: Path) -> None:
    rows = battles()
    random.Random(2).shuffle(rows)
    sides = {"a": "b", "b": "a"}
    turned = [
        {**row}
        | {f"{name}_{side}": row[f"{name}_{other}"] for name in ("model", "length") for side, other in sides.items()}
        | {"winner": {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}[str(row["winner"])]}
        for row in rows
    ]
    # The ids come from the content, which differs, so the groups differ: the mode is the same, the ranges nearly so.
    one = controlled(log, "--control", "length")["control"]
    two = controlled(write(tmp_path / "battles.csv", turned), "--control", "length")["control"]
    assert [row["system"] for row in one["leaderboard"]["rows"]] == [
        row["system"] for row in two["leaderboard"]["rows"]
    ]
    for before, after in zip(one["leaderboard"]["rows"], two["leaderboard"]["rows"], strict=True):
        assert after["score"] == pytest.approx(before["score"], abs=1e-9)
    assert two["features"][0]["coefficient"] == pytest.approx(one["features"][0]["coefficient"], abs=1e-9)


def test_other_names_of_systems_change_only_the_names(log: Path, tmp_path: Path) -> None:
    names = {"short": "z", "middle": "k", "long": "b"}
    renamed = [row | {side: names[str(row[side])] for side in ("model_a", "model_b")} for row in battles()]
    one = controlled(log, "--control", "length")["control"]["leaderboard"]["rows"]
    two = controlled(write(tmp_path / "battles.csv", renamed), "--control", "length")["control"]["leaderboard"]["rows"]
    assert {names[row["system"]]: row["score"] for row in one} == pytest.approx(
        {row["system"]: row["score"] for row in two}, abs=1e-9
    )


def test_a_feature_without_differences_is_named_and_not_controlled(log: Path) -> None:
    found = controlled(log, "--control", "length,bold")["control"]
    assert found["unused"] == ["bold"]
    assert [each["feature"] for each in found["features"]] == ["length"]
    assert "never differ in it: bold" in run(log, "--control", "bold").output


def test_tables_pages_and_csv_have_both_boards_and_the_coefficients(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = run(log, "--control", "length", "--html", page).output
    assert "battles.controlled" in text
    assert "coefficient" in text
    assert "ranks change" in text or "No rank changes" in text
    html = page.read_text()
    assert "Controlled features" in html
    assert "--control length" in html  # the options, in the footer
    rows = list(csv.DictReader(io.StringIO(run(log, "--control", "length", "--csv").stdout)))
    assert [row["control"] for row in rows] == ["none"] * 3 + ["length"] * 3
    markdown = run(log, "--control", "length", "--markdown").stdout
    assert "### battles.controlled" in markdown
    assert "| length | +" in markdown


def test_coefficients_are_on_the_scale_of_the_board(log: Path) -> None:
    score, elo = (controlled(log, "--control", "length", "--scale", scale)["control"] for scale in ("score", "elo"))
    unit = score["leaderboard"]["elo_per_score"]
    for name in ("coefficient", "low", "high", "judge_low", "judge_high"):
        assert elo["features"][0][name] == pytest.approx(unit * score["features"][0][name])


def test_judgments_without_features_are_left_out_of_both_boards_and_counted(tmp_path: Path) -> None:
    rows = battles(200)
    rows[3]["length_a"] = rows[7]["length_b"] = ""
    result = run(write(tmp_path / "battles.csv", rows), "--control", "length", "--json")
    assert "2 of 200 judgments do not have length of both outputs" in result.stderr
    found = json.loads(result.stdout)["campaigns"][0]
    assert found["judgments"] == found["control"]["leaderboard"]["judgments"] == 198


def test_texts_are_counted_where_the_file_has_them(tmp_path: Path) -> None:
    path = tmp_path / "battles.jsonl"
    with path.open("w") as stream:
        for row in battles(300):
            for side in "ab":
                row[f"conversation_{side}"] = [
                    {"role": "user", "content": "?"},
                    {"role": "assistant", "content": "x" * int(str(row.pop(f"length_{side}")))},
                ]
            stream.write(json.dumps(row) + "\n")
    assert controlled(path, "--control", "length,headers")["control"]["features"][0]["coefficient"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--control", "emoji"], ["no judgment has emoji", "'length_a'", "emoji_a=COLUMN"]),
        (["--control", "len gth"], ["--control: 'len gth' is not the name of a feature"]),
        (
            ["--control", "length", "--model", "elo"],
            ["the model trueskill and the ranges groups", "this ranking has the model elo"],
        ),
        (["--control", "length", "--controls", "everybody"], ["--control and --controls can't be combined"]),
    ],
)
def test_wrong_use_is_explained(log: Path, arguments: list[str], words: list[str]) -> None:
    result = run(log, *arguments)
    assert result.exit_code != 0
    text = f"{result.output}{result.exception}"
    assert all(word in text for word in words), text


def test_python_has_the_same_boards(log: Path) -> None:
    ranking = streams.rank(log, control="length")
    assert ranking.controlled is not None
    effects = ranking.controlled.reports[0].effects
    found = controlled(log, "--control", "length")["control"]
    assert effects is not None
    assert effects.features[0].coefficient == pytest.approx(found["features"][0]["coefficient"])
    assert [row.system for row in ranking.controlled.rows] == [row["system"] for row in found["leaderboard"]["rows"]]
    assert "Controlled features" in ranking.to_html()


def test_rankings_of_many_systems_use_the_pairs_of_each(tmp_path: Path) -> None:
    draw = random.Random(3)
    path = tmp_path / "log.jsonl"
    with path.open("w") as stream:
        for k in range(400):
            lengths = [max(1, round(draw.gauss(LENGTHS[name], 100))) for name in LENGTHS]
            order = sorted(range(3), key=lambda i, of=lengths: -of[i] + draw.gauss(0.0, 200.0))  # type: ignore[misc]
            ranks = [order.index(i) + 1 for i in range(3)]
            line = {"id": str(k), "campaign": "c", "segment": "s", "judge": f"j{k % 9}", "version": "1"}
            line |= {"type": "judgment", "at": "2026-01-01T00:00:00Z"}
            more = {"systems": list(LENGTHS), "ranks": ranks, "tags": {"length": "|".join(map(str, lengths))}}
            stream.write(json.dumps(line | more) + "\n")
    found = controlled(path, "--control", "length")
    assert found["control"]["leaderboard"]["judgments"] == 400
    assert found["control"]["features"][0]["low"] > 0
    gap = [rows[0]["score"] - rows[-1]["score"] for rows in (found["rows"], found["control"]["leaderboard"]["rows"])]
    assert gap[1] < gap[0] / 2
