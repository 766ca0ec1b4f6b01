"""The error about a table of no known format proposes a command, and this command ranks the table."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner, Result

from streams import read
from streams.cli.main import cli
from tests.formats.samples import parquet
from tests.formats.workbook_samples import workbook

# Judge, segment, a, b and the verdict. By hand: alder wins 3 and ties 1, birch wins 2 and loses 2, cedar wins none.
# Whoever takes b for a, or the winner for the loser, has cedar in front.
VOTES = [
    ("anna", "s1", "alder", "birch", "a"),
    ("ben", "s1", "birch", "alder", "b"),
    ("anna", "s2", "alder", "cedar", "a"),
    ("cleo", "s2", "cedar", "alder", "tie"),
    ("ben", "s3", "birch", "cedar", "a"),
    ("cleo", "s3", "cedar", "birch", "b"),
]
ORDER = ["alder", "birch", "cedar"]
WINS = {("alder", "birch"): 2, ("alder", "cedar"): 1.5, ("birch", "cedar"): 2}

Row = Mapping[str, object]


class Layout(NamedTuple):
    """How a table shows the votes: the names of its columns, its verdicts, and its container."""

    header: str  # judge, segment, a and b, separated by |
    verdict: Callable[[str, str, str], Mapping[str, object]]  # from a, b and the verdict
    container: str = "csv"
    suffix: str = ".csv"


def words(column: str, first: object, second: object, tie: object) -> Callable[[str, str, str], Row]:
    return lambda a, b, verdict: {column: {"a": first, "b": second, "tie": tie}[verdict]}


def names(column: str, tie: object) -> Callable[[str, str, str], Row]:
    return lambda a, b, verdict: {column: {"a": a, "b": b, "tie": tie}[verdict]}


def one_hot(first: str, second: str, tie: str, *, yes: object = 1, no: object = 0) -> Callable[[str, str, str], Row]:
    return lambda a, b, verdict: {
        first: yes if verdict == "a" else no,
        second: yes if verdict == "b" else no,
        tie: yes if verdict == "tie" else no,
    }


LAYOUTS = {
    "English, preferred by name": Layout("rater|prompt_id|system_1|system_2", names("preferred", "tie")),
    "English, indexes from 1": Layout("annotator|item|engine A|engine B", words("choice", 1, 2, 0), "tsv"),
    "English, indexes from 0 without ties": Layout(
        "worker|task|model_x|model_y", words("acceptedIndex", "0.0", "1.0", ""), "csv"
    ),
    "English, sides": Layout("evaluator|query|leftModel|rightModel", words("which_is_better", "L", "R", "both"), "csv"),
    "English, one-hot": Layout(
        "user_id|question|model_1|model_2", one_hot("winner_model_1", "winner_model_2", "winner_tie"), "csv"
    ),
    "English, booleans in JSON Lines": Layout(
        "reviewer|sentence|bot1|bot2", one_hot("won_1", "won_2", "tied", yes=True, no=False), "jsonl"
    ),
    "English, strength in a workbook": Layout("judge|segment|first mt|second mt", words("strength", 2, -1, 0), "xlsx"),
    "English, chosen and rejected": Layout(
        "voter|example||",
        lambda a, b, verdict: {
            "chosen_bot": b if verdict == "b" else a,
            "rejected_bot": a if verdict == "b" else b,
        },
    ),
    "English, separated by spaces": Layout("rater|seg|sys_a|sys_b", words("better", "A", "B", "="), "spaces"),
    "English, Parquet": Layout("labeler|topic|candidate_0|candidate_1", words("label", 0, 1, 2), "parquet"),
    "German, sides": Layout(
        "Bewerter|Satz|linkes System|rechtes System", words("besser", "links", "rechts", "gleich gut"), "semicolon"
    ),
    "German, names in UTF-16": Layout(
        "Gutachterin|Frage|Modell A|Modell B", names("Sieger", "unentschieden"), "utf-16"
    ),
    "German, winner and loser": Layout(
        "Nutzer|Aufgabe||",
        lambda a, b, verdict: {"Gewinner": b if verdict == "b" else a, "Verlierer": a if verdict == "b" else b},
        "semicolon",
    ),
    "French, sides": Layout(
        "juge|phrase|système gauche|système droite", words("préférence", "gauche", "droite", "égalité"), "semicolon"
    ),
    "French, names in JSON": Layout(
        "évaluateur|énoncé|premier modèle|deuxième modèle", names("vainqueur", "match nul"), "json"
    ),
    "French, strength": Layout("annotateur|consigne|moteur_1|moteur_2", words("intensité", "1", "-2", "0"), "csv"),
    "French, winner and loser": Layout(
        "évaluateur|phrase||",
        lambda a, b, verdict: {"meilleur": b if verdict == "b" else a, "moins bon": a if verdict == "b" else b},
        "tsv",
    ),
    "Spanish, winner and loser": Layout(
        "usuario|tarea||",
        lambda a, b, verdict: {"el mejor": b if verdict == "b" else a, "el peor": a if verdict == "b" else b},
    ),
    "Spanish, sides": Layout(
        "evaluador|frase|sistema izquierdo|sistema derecho",
        words("mejor", "izquierda", "derecha", "empate"),
        "semicolon",
    ),
    "Spanish, names": Layout("anotador|pregunta|modelo_a|modelo_b", names("ganador", "ninguno"), "tsv"),
    "Chinese, sides": Layout("评委|句子|左系统|右系统", words("更好", "左边", "右边", "一样好"), "csv"),
    "Chinese, names in a workbook": Layout("标注员|题目|模型甲|模型乙", names("胜者", "平局"), "xlsx"),
}


def table(layout: Layout, votes: Sequence[tuple[str, str, str, str, str]]) -> list[dict[str, object]]:
    rows = []
    for judge, segment, a, b, verdict in votes:
        cells = dict(zip(layout.header.split("|"), (judge, segment, a, b), strict=True))
        rows.append({name: cell for name, cell in cells.items() if name} | dict(layout.verdict(a, b, verdict)))
    return rows


def write(layout: Layout, rows: list[dict[str, object]], folder: Path) -> Path:
    file = folder / "votes"
    header = list(rows[0])
    delimiter = {"tsv": "\t", "semicolon": ";", "spaces": " "}.get(layout.container, ",")
    if layout.container == "xlsx":
        file.write_bytes(workbook([header, *(list(row.values()) for row in rows)]))  # type: ignore[list-item]
    elif layout.container == "parquet":
        file.write_bytes(parquet(rows))
    elif layout.container == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif layout.container == "json":
        file.write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        text = io.StringIO()
        table = csv.DictWriter(text, header, delimiter=delimiter)
        table.writeheader()
        table.writerows(rows)
        file.write_bytes(text.getvalue().encode("utf-16" if layout.container == "utf-16" else "utf-8"))
    return file


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), prog_name="judgestream")


def proposal(result: Result) -> list[str]:
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("  judgestream ")]
    return shlex.split(line)[1:]


def has_ties(name: str) -> bool:
    return not any(word in name for word in ("without ties", "chosen", "loser"))


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_proposed_command_ranks_the_table(name: str, tmp_path: Path) -> None:
    votes = [vote for vote in VOTES if has_ties(name) or vote[4] != "tie"]
    file = write(LAYOUTS[name], table(LAYOUTS[name], votes), tmp_path)
    refused = run("rank", str(file), "--json")
    assert refused.exit_code == 1
    assert "--from" in refused.stderr
    assert all(repr(column) in refused.stderr for column in table(LAYOUTS[name], votes)[0])
    ranked = run(*proposal(refused))
    assert ranked.exit_code == 0, ranked.stderr
    assert "names a judge" not in ranked.stderr
    assert "names a segment" not in ranked.stderr
    (board,) = json.loads(ranked.stdout)["campaigns"]
    assert [row["system"] for row in board["rows"]] == ORDER
    assert board["judgments"] == len(votes)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_proposed_command_counts_as_by_hand(name: str, tmp_path: Path) -> None:
    votes = [vote for vote in VOTES if has_ties(name) or vote[4] != "tie"]
    file = write(LAYOUTS[name], table(LAYOUTS[name], votes), tmp_path)
    command = proposal(run("convert", str(file), "-", "--to", "jsonl"))
    read = [json.loads(line) for line in run(*command).stdout.splitlines()]
    wins = dict.fromkeys(WINS, 0.0)
    for judgment in read:
        ranks = dict(zip(judgment["systems"], judgment["ranks"], strict=True))
        better, worse = sorted(ranks)
        wins[better, worse] += 0.5 + 0.5 * (ranks[better] < ranks[worse]) - 0.5 * (ranks[better] > ranks[worse])
    assert wins == (WINS if has_ties(name) else WINS | {("alder", "cedar"): 1})
    assert [(judgment["judge"], judgment["segment"]) for judgment in read] == [vote[:2] for vote in votes]


def test_nested_objects_are_proposed_by_their_paths(tmp_path: Path) -> None:
    rows = [
        {"worker": judge, "pair": {"left": a, "right": b}, "vote": {"a": "left", "b": "right"}.get(verdict, verdict)}
        for judge, _, a, b, verdict in VOTES
    ]
    file = tmp_path / "votes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = proposal(run("rank", str(file), "--json"))
    assert "a=pair.left,b=pair.right,winner=vote,judge=worker" in command
    board = json.loads(run(*command).stdout)["campaigns"][0]
    assert [row["system"] for row in board["rows"]] == ORDER


@pytest.mark.parametrize("name", ["r", "left-"])
def test_names_of_judges_are_not_proposed_as_verdicts(name: str, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("rater,good mt,other mt\n" + "".join(f"{name}{k % 3},alder,birch\n" for k in range(9)))
    assert f"{name}0" not in run("rank", str(file)).stderr


def test_scores_are_proposed_too(tmp_path: Path) -> None:
    file = tmp_path / "noten.csv"
    file.write_text(
        "Prüfer;Satz;System;Punktzahl\na;1;alder;87,5\na;2;birch;60\nb;1;alder;90\nb;2;birch;70,5\n", encoding="latin-1"
    )
    refused = run("rank", str(file), "--json", "--encoding", "latin-1")
    command = proposal(refused)
    assert command[-1] == "system=System,score=Punktzahl,judge=Prüfer,segment=Satz"
    (board,) = json.loads(run(*command).stdout)["campaigns"]
    assert [row["system"] for row in board["rows"]] == ["alder", "birch"]
    assert [judgment.score for judgment in read(file, columns=command[-1], encoding="latin-1")] == [87.5, 60, 90, 70.5]


def test_standard_input_gets_a_campaign_in_the_proposal() -> None:
    data = "rater,system_1,system_2,preferred\nj,alder,birch,1\n"
    refused = CliRunner().invoke(cli, ["rank", "-", "--json"], input=data, prog_name="judgestream")
    command = proposal(refused)
    assert command[:5] == ["rank", "-", "--json", "--campaign", "log"]
    ranked = CliRunner().invoke(cli, command, input=data)
    assert json.loads(ranked.stdout)["campaigns"][0]["campaign"] == "log"


def test_a_command_without_the_option_proposes_to_convert_the_file(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("rater,system_1,system_2,preferred\nj,alder,birch,1\n")
    refused = run("judges", str(file), "--check")
    assert proposal(refused)[:3] == ["convert", str(file), "log.jsonl"]


@pytest.mark.parametrize("segment", ["1", "s"])
def test_a_first_row_that_is_no_header_is_not_shown(segment: str, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text(f"secret-judge,{segment},alder,birch,left\nsecret-judge,s,alder,birch,right\n")
    error = str(run("rank", str(file)).exception)
    assert "unknown format" in error
    assert "secret" not in error


def test_a_proposal_that_is_too_long_to_paste_is_not_made(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text(f"rater,system_1,system_2{'x' * 2000},preferred\nj,alder,birch,1\n")
    error = str(run("rank", str(file)).exception)
    assert "unknown format" in error
    assert len(error) < 2000


@pytest.mark.parametrize("command", ["rank", "clusters", "describe"])
def test_scores_without_a_header_get_the_command_with_their_format(tmp_path: Path, command: str) -> None:
    file = tmp_path / "en-de.sys.score"
    file.write_text("alder\t0.71\nbirch\t0.64\ncedar\tNone\n")
    refused = CliRunner().invoke(cli, [command, str(file)])
    assert refused.exit_code == 1
    assert "each line has a name and a number" in refused.stderr
    (proposed,) = [line for line in refused.stderr.splitlines() if line.startswith("  judgestream ")]
    assert proposed.endswith(f"{file} --from mt-metrics-eval")
    done = CliRunner().invoke(cli, [*shlex.split(proposed)[1:]])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("arguments", [[], ["--from", "arena"]])
def test_battles_with_other_words_get_the_command_that_reads_them(tmp_path: Path, arguments: list[str]) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("left,right,winner,annotator\nalder,birch,A,j1\nbirch,cedar,B,j2\ncedar,alder,equal,j1\n")
    refused = run("convert", str(file), "-", "--to", "jsonl", *arguments)
    assert refused.exit_code == 1
    assert "'A' is not a winner" in refused.stderr
    assert "--on-error" in refused.stderr
    read = [json.loads(line) for line in run(*proposal(refused)).stdout.splitlines()]
    assert [judgment["ranks"] for judgment in read] == [[1, 2], [2, 1], [1, 1]]
    assert [judgment["judge"] for judgment in read] == ["j1", "j2", "j1"]


def test_a_wrong_winner_gets_no_command_that_can_not_read_it(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("left,right,winner\nalder,birch,nobody\nbirch,cedar,B\ncedar,alder,A\n")
    error = run("rank", str(file))
    assert "'nobody' is not a winner" in str(error.exception)
    assert "--columns" not in str(error.exception)
