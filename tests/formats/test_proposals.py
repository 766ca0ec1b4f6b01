"""The mapping that is proposed for an unknown table says what its columns say, or there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams import read
from streams.formats.base import UnknownFormat
from streams.formats.mapping.column_mapping import ColumnMapping

# By hand: alder beats birch, cedar beats birch, and cedar and alder are tied.
PAIRS = (("alder", "birch"), ("birch", "cedar"), ("cedar", "alder"))
RANKS = [(1, 2), (2, 1), (1, 1)]


def propose(file: Path) -> ColumnMapping | None:
    with pytest.raises(UnknownFormat) as error:
        list(read(file))
    return error.value.mapping


def write(folder: Path, header: str, cells: list[str]) -> Path:
    file = folder / "votes.csv"
    file.write_text("\n".join([header, *cells, ""]))
    return file


@pytest.mark.parametrize(
    ("header", "verdicts"),
    [
        ("rater,prompt,system_a,system_b,b_is_better", ("False", "True")),
        ("rater,prompt,system_1,system_2,first_wins", ("1", "0")),
        ("rater,prompt,system_1,system_2,second_wins", ("0", "1")),
        ("rater,prompt,sys1,sys2,prefer_sys1", ("1", "0", "0.5")),
        ("rater,prompt,left,right,right_won", ("no", "yes")),
        ("evaluator,question,candidate A,candidate B,answer", ("A", "B", "C")),
        ("rater,src,mt_a,mt_b,comparison", (">", "<", "=")),
        ("judge,seg,left_sys,right_sys,verdict", ("L", "R", "T")),
        ("judge,seg,model,opponent,result", ("W", "L", "D")),
        ("judge,seg,sys_1,sys_2,comparison", ("1>2", "1<2", "1=2")),
        ("judge,seg,sys_1,sys_2,margin", ("2", "-1", "0")),
        (
            "Teilnehmerin,Satznummer,System 1,System 2,Antwort",
            ("System 1 ist viel besser", "System 2", "Kein Unterschied"),
        ),
        ("juré,question,Système 1,Système 2,Réponse", ("Système 1", "Système 2", "Pas de différence")),
        ("打分者,题号,系统A,系统B,优胜方", ("系统A", "系统B", "不分上下")),
        ("rater,query,control,treatment,winner", ("control", "treatment", "tie")),
        ("judge,question,model,baseline,outcome", ("win", "lose", "draw")),
        ("rater|prompt|model_a|model_b|best", ("a", "b", "=")),
        ("E-Mail-Adresse,Text,KI 1,KI 2,Welche Antwort ist besser?", ("Antwort 1", "Antwort 2", "beide")),
        ("Nutzer,Eingabe,linkes Modell,rechtes Modell,Wahl", ("das linke", "das rechte", "weder noch")),
        ("annotateur,tâche,traduction 1,traduction 2,préférée", ("la première", "la deuxième", "aucune")),
        ("Calificador,Texto,Traducción A,Traducción B,Mejor traducción", ("A", "B", "Ninguna")),
        ("evaluador,frase,traductor 1,traductor 2,elección", ("1", "2", "3")),
        ("评估人,输入,大模型1,大模型2,投票", ("大模型1", "大模型2", "差不多")),
        ("用户ID,问题,前者,后者,结果", ("前者", "后者", "相当")),
    ],
)
def test_a_proposal_reads_the_verdicts_as_by_hand(header: str, verdicts: tuple[str, ...], tmp_path: Path) -> None:
    bar = "|" if "|" in header else ","
    rows = [bar.join((f"judge-{k % 2}", f"s{k}", *PAIRS[k], verdict)) for k, verdict in enumerate(verdicts)]
    file = write(tmp_path, header, rows)
    mapping = propose(file)
    assert mapping is not None
    judgments = list(read(file, columns=mapping.columns, values=mapping.values))
    assert [judgment.ranks for judgment in judgments] == RANKS[: len(verdicts)]
    assert [judgment.systems for judgment in judgments] == list(PAIRS[: len(verdicts)])
    assert [(judgment.judge, judgment.segment) for judgment in judgments] == [
        (f"judge-{k % 2}", f"s{k}") for k in range(len(verdicts))
    ]


def test_an_answer_that_is_not_given_is_left_out_and_not_a_verdict(tmp_path: Path) -> None:
    rows = ["anna,alder,birch,Model A", "ben,birch,cedar,Model B", "anna,cedar,alder,N/A"]
    file = write(tmp_path, "worker,model A,model B,outcome", rows)
    mapping = propose(file)
    assert mapping is not None
    judgments = read(file, columns=mapping.columns, values=mapping.values)
    assert [judgment.ranks for judgment in judgments] == [(1, 2), (2, 1)]
    assert judgments.summary.left_out == {"no verdict": 1}


def test_the_first_system_may_stand_behind_the_second(tmp_path: Path) -> None:
    mapping = propose(
        write(tmp_path, "rater,model_b (new),model_a,better", ["anna,alder,birch,A", "ben,birch,cedar,B"])
    )
    assert mapping is not None
    assert (mapping.columns["a"], mapping.columns["b"]) == ("model_a", "model_b (new)")


def test_the_sign_of_a_strength_is_shown(tmp_path: Path) -> None:
    mapping = propose(write(tmp_path, "rater,sys1,sys2,margin", ["anna,alder,birch,2", "ben,birch,cedar,-1"]))
    assert mapping is not None
    assert mapping.options()[2:] == ["--values", "a=positive"]


@pytest.mark.parametrize("header", ["prompt,best,worst,rater", "prompt,preferred_model,other_model,rater"])
def test_the_best_and_the_worst_are_winner_and_loser(header: str, tmp_path: Path) -> None:
    mapping = propose(write(tmp_path, header, ["p1,alder,birch,anna", "p2,cedar,birch,ben"]))
    assert mapping is not None
    assert list(mapping.columns) == ["winner", "loser", "judge", "segment"]


@pytest.mark.parametrize(
    "header",
    [
        "rater,system_a,system_b,rank_a,rank_b",  # lower is better
        "rater,system_a,system_b,errors_a,errors_b",
        "Bewerter,System A,System B,Platz A,Platz B",
        "rater,system_a,system_b,length_a,length_b",  # says nothing
        "rater,system_a,system_b,score,pages",  # of which of the two?
        "rater,prompt,system,rank,pages",
    ],
)
def test_numbers_that_are_no_verdict_are_not_proposed(header: str, tmp_path: Path) -> None:
    assert propose(write(tmp_path, header, ["anna,alder,birch,1,9", "ben,birch,alder,3,7"])) is None
