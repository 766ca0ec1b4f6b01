"""Rankings of WMT: comparisons are joined to rankings, and every shape of the XML export is read."""

from __future__ import annotations

from io import BytesIO

import pytest

from streams import formats
from streams.formats import Reading
from streams.wire.events import Judgment

HEADER = "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID"
FULL = ("A,1,B,2,7", "A,1,C,3,7", "B,2,C,3,7")


def read(data: str, **options: bool) -> tuple[Reading, list[Judgment]]:
    reading = formats.read(BytesIO(data.encode()), campaign="c", **options)  # type: ignore[arg-type]
    return reading, [entry.judgment for entry in reading]


def comparisons(*rows: str, judge: str = "j", languages: str = "fre,eng") -> str:
    return "\n".join([HEADER, *(f"{languages},5,5,{judge},{row}" for row in rows), ""])


def test_all_comparisons_of_a_ranking_are_one_judgment() -> None:
    reading, (first, second) = read(comparisons(*FULL, "A,2,B,1,8"))
    assert (first.systems, first.ranks, first.segment) == (("A", "B", "C"), (1, 2, 3), "5")
    assert (second.systems, second.ranks) == (("A", "B"), (2, 1))
    assert (reading.summary.rows, reading.summary.judged, reading.summary.judgments) == (4, 4, 2)


def test_counts_of_missing_names_follow_the_joined_judgments() -> None:
    reading, (found,) = read(comparisons(*FULL, judge=""))
    assert (found.judge, reading.summary.anonymous) == ("anonymous", 1)


@pytest.mark.parametrize(
    "rows",
    [
        FULL[:2],  # B and C were not compared: whether A,1 B,2 and A,1 C,2 is one ranking is not known
        ("A,1,B,2,7", "A,2,C,3,7", "B,2,C,3,7"),  # A has two ranks
        (*FULL, "A,1,B,2,7"),  # a comparison is there twice
    ],
)
def test_comparisons_that_are_not_one_ranking_stay_as_they_are(rows: tuple[str, ...]) -> None:
    _, found = read(comparisons(*rows))
    assert len(found) == len(rows)


def test_collapsed_systems_share_an_output_and_are_tied_once() -> None:
    _, (found,) = read(comparisons("A+B,1,C,2,7", "A+B,1,D,3,7", "C,2,D,3,7"))
    assert dict(zip(found.systems, found.ranks or (), strict=True)) == {"A": 1, "B": 1, "C": 2, "D": 3}
    _, apart = read(comparisons("A+B,1,C,2,7"), shared_ties=False)
    assert [each.systems for each in apart] == [("A", "C"), ("B", "C")]


def test_languages_that_are_not_known_are_not_in_the_name() -> None:
    _, (found,) = read(comparisons("A,1,B,2,7", languages="-1,-1"))
    assert found.campaign == "c"


def test_items_of_another_campaign_than_wmt_are_rankings() -> None:
    item = '<translation system="A" rank="1"/><translation system="B" rank="2"/>'
    text = f'<ranking-result>\n<ranking-item id="9" duration="00:00:35" user="u">{item}</ranking-item></ranking-result>'
    reading, (found,) = read(f"<appraise-results>{text}</appraise-results>")
    assert (found.campaign, found.segment, found.judge, found.duration_ms) == ("c", "9", "u", 35_000)
    assert (found.systems, found.ranks, reading.summary.rows) == (("A", "B"), (1, 2), 1)


def test_a_single_translation_says_nothing_and_is_counted() -> None:
    result = '<ranking-result user="u"><translation system="A" rank="1"/></ranking-result>'
    hit = f'<HIT source-language="deu" target-language="eng"><ranking-task id="1">{result}</ranking-task></HIT>'
    reading, found = read(f"<WMT16-results>{hit}</WMT16-results>")
    assert (found, reading.summary.left_out) == ([], {"a single system": 1})
