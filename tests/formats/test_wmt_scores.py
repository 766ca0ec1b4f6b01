"""Tables of scores of WMT: direct assessment, MQM errors, and means by segment."""

from __future__ import annotations

import csv
import io
from io import BytesIO

import pytest

from streams import formats
from streams.formats import Reading
from streams.formats.mqm_weights import error_weight
from streams.wire.events import Judgment
from tests.formats.samples import WMT_ASSESSMENT


def read(text: str | bytes, known_as: str) -> tuple[list[Judgment], Reading]:
    reading = formats.read(BytesIO(text.encode() if isinstance(text, str) else text), campaign="c")
    judgments = [judgment for _, judgment in reading]
    assert reading.format is formats.FORMATS[known_as]
    return judgments, reading


def test_systems_and_repeats_are_rated_and_controls_are_not() -> None:
    judgments, reading = read(WMT_ASSESSMENT, "wmt-assessment")
    found = [(judgment.judge, judgment.systems[0], judgment.segment, judgment.score) for judgment in judgments]
    assert found == [
        ("w1", "Facebook-AI.7", "177", 0.5),
        ("w1", "Facebook-AI.7", "177", -0.25),
        ("w2", "HUMAN.0", "177", 1.5),
    ]
    assert {judgment.campaign for judgment in judgments} == {"c.cs-en"}
    assert (reading.summary.left_out, reading.summary.scale) == ({"a control (BAD_REF)": 1}, "raw")


def test_raw_scores_with_tabs_spaces_and_quotes_are_to_be_standardised() -> None:
    text = (
        "HITId\tWorkerId\tInput.src\tInput.trg\tInput.item\thit\tsys_id\trid\ttype\tsid\tscore\ttime\n"
        '"3IK"\tw1\tde\ten\tad 4\t"UF.15"\t1000039\tSYSTEM\t177 70\t931.0\n'
    )
    (judgment,), reading = read(text, "wmt-assessment")
    assert (judgment.systems, judgment.segment, judgment.score) == (("UF.15",), "177", 70.0)
    assert reading.summary.scale == "z"


def test_published_means_by_segment_are_read_with_their_z_scores() -> None:
    (judgment,), reading = read("SYS SID RAW.SCR Z.SCR N\nUF.15 177 70.5 -0.25 2\n", "wmt-assessment")
    assert (judgment.systems, judgment.segment, judgment.score) == (("UF.15",), "177", -0.25)
    assert reading.summary.scale == "raw"


@pytest.mark.parametrize(
    ("severity", "category", "weight"),
    [
        ("Major", "Accuracy/Mistranslation", 5.0),
        ("critical", "Accuracy/Mistranslation", 5.0),
        ("Minor", "Style/Awkward", 1.0),
        ("Minor", "Fluency/Punctuation", 0.1),
        ("Major", "Fluency/Punctuation", 5.0),
        ("Major", "Non-translation!", 25.0),
        ("major", "Non_translation!", 25.0),
        ("Neutral", "Style/Awkward", 0.0),
        ("No-error", "No-error", 0.0),
        ("", "", 0.0),
        ("Major", "Source error", 5.0),
        ("major", "Source issue", 0.0),
        ("Major", "Accuracy/Creative Reinterpretation", 0.0),
    ],
)
def test_the_weights_are_the_official_ones(severity: str, category: str, weight: float) -> None:
    assert error_weight(severity, category) == weight


OLD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
NEW = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"


def test_the_errors_of_a_rating_are_added_up_wherever_they_stand() -> None:
    rows = [
        "a\td\t1\t5\tr1\tx\ty\tAccuracy/Omission\tMajor",
        "b\td\t1\t5\tr1\tx\ty\tNo-error\tNo-error",
        "a\td\t1\t5\tr2\tx\ty\tStyle/Awkward\tMinor",
        'a\td\t1\t5\tr1\t"x\ty\tFluency/Punctuation\tMinor',
        "b\td\t2\t6\tr1\tx\ty\tAccuracy/Omission\tHOTW-test",
    ]
    judgments, reading = read("\n".join([OLD, *rows, ""]), "mqm")
    assert [(one.systems[0], one.judge, one.segment, one.score) for one in judgments] == [
        ("a", "r1", "d:5", -5.1),
        ("b", "r1", "d:5", 0.0),
        ("a", "r2", "d:5", -1.0),
    ]
    assert reading.summary.left_out == {"a control (HOTW-test)": 1}
    assert (reading.summary.rows, reading.summary.judged, reading.summary.judgments) == (5, 4, 3)
    assert reading.summary.scale == "raw"


def test_newer_columns_a_comment_in_the_header_and_side_by_side_ratings() -> None:
    time = '{"timestamp":1693000000000,"timing":{}}'
    rows = [
        f"GPT4_with_B\td:en-de\t1\t5\tr1\tx\ty\tAccuracy/Omission\tmajor\t{time}",
        f"GPT4_with_C\td:en-de\t1\t5\tr1\tx\ty\tStyle\tminor\t{time}",
        "GPT4_with_C\td:en-de\t1\t5\tr1\tx\ty\tStyle\tminor\t{}",
        "C_with_GPT4\td:en-de\t1\t5\tr1\tx\ty\t\t",
    ]
    judgments, _ = read("\n".join([f"{NEW}\t# Documentation: see there", *rows, ""]), "mqm")
    assert [(one.systems[0], one.score) for one in judgments] == [("GPT4", -5.0), ("GPT4", -2.0), ("C", 0.0)]
    assert {one.campaign for one in judgments} == {"c.en-de"}
    assert judgments[0].at.timestamp() == 1693000000
    assert len({one.id for one in judgments}) == 3


def test_scores_of_professionals_have_no_errors() -> None:
    header = OLD.replace("category\tseverity", "score")
    (judgment,), _ = read(f"{header}\na\td\t1\t5\tr1\tx\ty\t4\n", "mqm")
    assert (judgment.score, judgment.segment) == (4.0, "d:5")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\t-1\na\tNone\na\t-2.5\nb\t0\n", [("a", "1", -1.0), ("a", "3", -2.5), ("b", "1", 0.0)]),
        ("a 1\na 2\nb 0.5\n", [("a", "1", 1.0), ("a", "2", 2.0), ("b", "1", 0.5)]),
        ("news\ta\t1\nnews\tb\t2\n", [("a", "news", 1.0), ("b", "news", 2.0)]),
        ("system mqm_avg_score seg_id\na\t-1.100000 7\na\tNone 8\n", [("a", "7", -1.1)]),
        (
            'a\t{"errors":[{"score":5,"severity":"major"},{"score":1}]}\tr1\na\tNone\tr1\na\t{"errors":[]}\tr2\n',
            [("a", "1", -6.0), ("a", "1", 0.0)],
        ),
    ],
)
def test_means_by_segment_are_counted_by_system(text: str, found: list[tuple[str, str, float]]) -> None:
    judgments, reading = read(text, "mt-metrics-eval")
    assert [(one.systems[0], one.segment, one.score) for one in judgments] == found
    assert reading.summary.rows == reading.summary.judged + reading.summary.left_out["not scored"]


@pytest.mark.parametrize("text", ["a 1\nb 2\n", "a 1\n", "a b\na c\n", "a 1 2 3\na 1 2 3\n", "score\n1\n2\n"])
def test_any_two_columns_are_not_taken_for_scores(text: str) -> None:
    from streams.formats.input.head import FileHead

    assert not formats.FORMATS["mt-metrics-eval"].recognises(FileHead(text.encode()))


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_direct_assessments_that_were_saved_again_keep_their_controls_apart(delimiter: str) -> None:
    table = """,score,sid,type,sys_id,Input.src,Input.trg,WorkerId,note
0,0.5,s1,SYSTEM,x,is,zu,w1,"fine, I think"
1,-2.0,s1,BAD_REF,x,is,zu,w1,
2,0.1,s1,REPEAT,x,is,zu,w1,
"""
    rows = csv.reader(table.splitlines())
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    reading = formats.read(io.BytesIO(text.getvalue().encode()), campaign="c")
    found = [judgment for _, judgment in reading]
    assert [(each.systems, each.score, each.judge, each.campaign) for each in found] == [
        (("x",), 0.5, "w1", "c.is-zu"),
        (("x",), 0.1, "w1", "c.is-zu"),
    ]
    assert reading.summary.left_out == {"a control (BAD_REF)": 1}


def test_direct_assessments_need_neither_workers_nor_languages() -> None:
    reading = formats.read(io.BytesIO(b"sys_id type sid score\nx\tSYSTEM\ts1\t0.5\n"), campaign="c")
    assert [(each.judge, each.campaign) for _, each in reading] == [("anonymous", "c")]


def test_errors_of_mqm_that_were_saved_again_have_quotes() -> None:
    table = """,rater,severity,category,system,doc,seg_id,target
0,r1,Major,Accuracy/Omission,x,d1,1,"He said ""no"", then"
1,r1,Minor,Fluency/Punctuation,x,d1,1,well
"""
    reading = formats.read(io.BytesIO(table.encode()), campaign="c")
    assert [(each.systems, each.score, each.judge, each.segment) for _, each in reading] == [
        (("x",), -5.1, "r1", "d1:1")
    ]
