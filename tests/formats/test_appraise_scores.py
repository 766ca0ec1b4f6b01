"""Appraise's CSV exports of scores: every layout, what is not rated, and scores from error spans."""

from __future__ import annotations

import csv
import io
from io import BytesIO
from pathlib import Path

import pytest

from streams import formats
from streams.errors import FormatError
from streams.formats import Reading, scores
from streams.wire.decoding import decode
from streams.wire.events import Judgment, encode
from tests.cpu_time import growth

TIMES = "1662710595.106,1662710644.598"


def read(text: str, *, references: bool = True) -> tuple[list[Judgment], Reading]:
    reading = formats.read(BytesIO(text.encode()), campaign="c", references=references)
    judgments = [judgment for _, judgment in reading]
    assert reading.format is formats.FORMATS["appraise-scores"]
    return judgments, reading


def row(
    *, user: str = "u1", system: str = "s1", item: object = 1, kind: str = "TGT", score: object = 70, more: str = ""
) -> str:
    return f"{user},{system},{item},{kind},eng,ces,{score},{more}{TIMES}\n"


@pytest.mark.parametrize(
    ("more", "end", "segment", "scale"),
    [
        ("", "", "1", "z"),  # segment DA: 9 columns
        ("doc#3-13,False,", "", "doc:3-13:1", "z"),  # document DA or SQM: 11
        ("doc#s1,False,[],", "", "doc:1", "raw"),  # ESA: 12
        ("doc,False,", ",7,1", "doc:1", "z"),  # with batch info: 13
        ("", ",7,1", "1", "z"),  # 9 with batch info
        ("doc,False,[],", ",7,1", "doc:1", "raw"),  # 14
        ("no errors,none,", "", "1", "z"),  # contrastive, segment: 11, and no document
    ],
)
def test_every_layout_gives_judge_system_segment_score_and_time(more: str, end: str, segment: str, scale: str) -> None:
    (judgment,), reading = read(row(more=more).replace("\n", f"{end}\n"))
    assert (judgment.campaign, judgment.judge, judgment.systems) == ("c.en-cs", "u1", ("s1",))
    assert (judgment.segment, judgment.score, judgment.duration_ms) == (segment, 70.0, 49_492)
    assert judgment.at.timestamp() == pytest.approx(1662710644.598)
    assert reading.summary.scale == scale


@pytest.mark.parametrize(
    ("more", "item", "domain"),
    [
        ("test-en-speech_abc#s1,False,[],", 1, "speech"),
        ("d,False,[],", "en-cs_CZ_#_news_#_d_#_0", "news"),
        ("d,False,[],", 1, None),
    ],
)
def test_a_document_or_an_item_may_name_its_domain(more: str, item: object, domain: str | None) -> None:
    (judgment,), _ = read(row(more=more, item=item))
    assert (judgment.tags or {}).get("domain") == domain


def test_a_header_may_name_the_columns_in_any_order() -> None:
    header = "system,docId,isDocScore,username,itemType,itemId,comment,srcLang,trgLang,score,timeEnd,timeStart\n"
    first = "x,d1,False,u1,TGT,3,nice,eng,liv,80,1660000005.5,1660000000\n"
    second = "x,d1,True,u1,TGT,3,,eng,liv,9,1660000006,1660000005\n"
    judgments, reading = read(header + first + second)
    assert [(each.systems, each.score, each.judge, each.segment, each.duration_ms) for each in judgments] == [
        (("x",), 80.0, "u1", "d1:3", 5500)
    ]
    assert reading.summary.left_out == {"a score of a whole document": 1}


def test_a_header_above_the_rows_is_no_row() -> None:
    header = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"
    judgments, reading = read(header + row(more="doc,False,"))
    assert (len(judgments), reading.summary.rows) == (1, 1)


def test_what_is_not_rated_is_counted_by_kind() -> None:
    text = (
        row(more="doc,False,[],")
        + row(kind="BAD", more="doc#bad1,False,[],")
        + row(kind="REF", more="doc,False,[],")
        + row(system="ende-tutorial1", more="ende-tutorial1,False,[],")
        + row(more="doc2#dup,False,[],")
        + row(more="doc2#incomplete,False,[],")
        + row(item=9, more="doc,True,[],")
        + row(more="canary,False,[],")
    )
    judgments, reading = read(text)
    assert len(judgments) == 1
    assert reading.summary.left_out == {
        "a control (BAD)": 1,
        "a control (REF)": 1,
        "a tutorial": 1,
        "a duplicate that fills a task": 1,
        "an incomplete document": 1,
        "a score of a whole document": 1,
        "a canary": 1,
    }


def test_a_control_spoils_its_document_for_this_judge_and_system() -> None:
    text = (
        row(item=1, more="doc,False,")
        + row(item=2, kind="BAD", more="doc,False,")
        + row(item=1, user="u2", more="doc,False,")
        + row(item=1, system="s2", more="doc,False,")
    )
    judgments, reading = read(text)
    assert [(judgment.judge, judgment.systems[0]) for judgment in judgments] == [("u2", "s1"), ("u1", "s2")]
    assert reading.summary.left_out == {"a control (BAD)": 1, "in a document with a control": 1}


def test_the_last_submission_by_time_counts() -> None:
    late, early = (
        row(score=10, more="d,False,[],"),
        row(score=90, more="d,False,[],").replace("1662710644", "1662710600"),
    )
    for text in (late + early, early + late):
        judgments, reading = read(text)
        assert [judgment.score for judgment in judgments] == [10.0]
        assert reading.summary.left_out == {"replaced by a later submission": 1}
        assert (reading.summary.judged, reading.summary.judgments) == (1, 1)


def spans(*errors: tuple[str, str]) -> str:
    found = ",".join(
        f'{{""start_i"":0,""end_i"":1,""severity"":""{severity}"",""error_type"":[""Top"",""{kind}""]}}'
        for severity, kind in errors
    )
    return f'"[{found}]",'


def test_without_any_score_the_errors_are_the_score() -> None:
    marked = spans(("major", "Mistranslation"), ("minor", "Grammar"), ("major", "Punctuation"), ("undecided", "x"))
    none = row(item=2, score=0, more="d,False,[],")
    judgments, _ = read(row(score=0, more=f"d,False,{marked}") + none)
    assert [judgment.score for judgment in judgments] == [-6.1, 0.0]
    judgments, _ = read(row(score=0, more=f"d,False,{marked}") + none.replace("ces,0", "ces,55"))
    assert [judgment.score for judgment in judgments] == [0.0, 55.0]  # this campaign has scores


def test_items_that_are_numbered_by_task_become_places_in_the_document() -> None:
    text = ""
    for user, system, first in (("u1", "s1", 7), ("u2", "s2", 40), ("u3", "s3", 90)):
        text += "".join(row(user=user, system=system, item=first + k, more="doc,False,[],") for k in range(3))
    text += row(user="u4", system="s4", item=100, more="doc,False,[],")  # the rest is in another task
    judgments, _ = read(text)
    assert [judgment.segment for judgment in judgments] == [*["doc:1", "doc:2", "doc:3"] * 3, "doc:u4:100"]
    judgments, _ = read(text.replace("doc", "d" * 150).replace("u4", "u" * 100))
    assert max(len(judgment.segment) for judgment in judgments) == 200
    assert all(decode(encode(judgment), max_bytes=10**6) == judgment for judgment in judgments)


def test_a_document_with_many_judges_takes_linear_time() -> None:
    files = {
        size: "".join(row(user=f"u{k}", item=k, more="doc,False,[],") for k in range(size)) for size in (200, 3200)
    }
    assert growth(lambda size: read(files[size]), *files, limit=64) < 64


def test_more_ratings_than_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "MAX_RATINGS", 3)
    rows = [row(item=k, more="doc,False,[],") for k in (1, 2, 3, 3, 4)]
    assert len(read("".join(rows[:4]))[0]) == 3
    with pytest.raises(FormatError, match="more than 3 ratings, which must be in memory together; split the file"):
        read("".join(rows))


def test_references_can_be_left_out() -> None:
    text = row(system="wmt23.refA", more="d,False,[],") + row(system="translator-B", more="d,False,[],")
    assert len(read(text)[0]) == 2
    judgments, reading = read(text + row(more="d,False,[],"), references=False)
    assert [judgment.systems for judgment in judgments] == [("s1",)]
    assert reading.summary.left_out == {"a human reference": 2}


def test_the_year_of_the_systems_and_the_languages_name_the_campaign(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(
        row(system="wmt23.AIRC", more="d,False,[],") + row(more="d,False,[],").replace("eng,ces", "eng,jpn")
    )
    assert [entry.judgment.campaign for entry in formats.read(file)] == ["wmt23.en-cs", "scores.en-ja"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (row(more="d,maybe,[],"), "3 cells between the score and the times|1: 3 cells"),
        ("u1,s1,1,TGT,eng,ces,70,d,False,[]\n", "no start and end time|1: 10 cells"),
        ("u1,s1,1,XXX,eng,ces,70,1662710595.1,1662710595.2\n", "'XXX' is not an item type"),
        (row(score=0, more='d,False,"[{""severity"":1}]",'), "spans: not a list of error spans"),
        (row(score=0, more='d,False,"[{""severity"":""huge""}]",'), "severity: 'huge' is not a severity"),
    ],
)
def test_a_row_that_is_no_score_is_an_error(text: str, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        list(formats.read(BytesIO(text.encode()), format="appraise-scores", campaign="c"))


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_an_export_that_was_saved_again_may_have_another_delimiter(delimiter: str) -> None:
    spans = "[" + ",".join(['{"severity": "minor"}'] * 2) + "]"
    rows = [row(more="doc,False,SPANS,", item=number).strip().split(",") for number in (1, 2)]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([cell.replace("SPANS", spans) for cell in cells] for cells in rows)
    judgments, _ = read(text.getvalue())
    assert [(each.segment, each.score) for each in judgments] == [("doc:1", 70.0), ("doc:2", 70.0)]
