"""The uniform CSV: counts of public logs, shared outputs and bad rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from streams import formats
from streams.errors import FormatError
from streams.formats import read
from tests.data import real_log

HEAD = "campaign,pair,seq,segment,judge,judge_type,n,systems,ranks,duration_s,timestamp,hit\n"


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "rankings", "pairs", "ties"),
    [("wmt13_fr-en_rank.csv.gz", 9996, 99_960, 19_219), ("wmt15_rank.csv.gz", 28_260, 540_108, None)],
)
def test_a_real_log_has_the_counts_that_are_stated(name: str, rankings: int, pairs: int, ties: int | None) -> None:
    outcomes: Counter[bool] = Counter()
    count = 0
    for _, judgment in read(real_log(name)):
        count += 1
        ranks = judgment.ranks or ()
        outcomes.update(a == b for i, a in enumerate(ranks) for b in ranks[i + 1 :])
    assert (count, outcomes.total()) == (rankings, pairs)
    assert ties is None or outcomes[True] == ties


def test_systems_that_shared_an_output_are_tied(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(HEAD + "wmt15,de-en,7,581,judge1,,2,a+b|c,2|1,35.337,,x\n")
    ((line, judgment),) = read(file)
    assert line == 2
    assert (judgment.campaign, judgment.systems, judgment.ranks) == ("wmt15.de-en", ("a", "b", "c"), (2, 2, 1))
    assert (judgment.id, judgment.duration_ms) == ("wmt15.de-en.7", 35_337)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "log.csv:1: no column campaign"),
        (HEAD + "c,p,1,s,j,,2,a|b,1,,,\n", "log.csv:2: ranks: 2 systems but 1 ranks"),
        (HEAD + "c,p,1,s,j,,2,a|b,1|0,,,\n", "log.csv:2: ranks: '0' is not a rank"),
        (HEAD + "c,p,1,s,j,,2,a|a,1|2,,,\n", "log.csv:2: systems: the system 'a' is listed twice"),
        (HEAD + "c,p,1,s,j,,2,a|b,1|2,soon,,\n", "log.csv:2: duration_s: 'soon' is not a number of seconds"),
        (HEAD + "c,p,1,s,j,,2,a|b,1|2,,yesterday,\n", "log.csv:2: timestamp: 'yesterday' is not an ISO 8601 time"),
        (HEAD + "c,p,x,s,j,,2,a|b,1|2,,,\n", "log.csv:2: seq: 'x' is not a row number"),
        (HEAD + "c,p,4,s,j,,2,a|b,1|2,,,\n" * 2, "log.csv:3: seq: 4 comes after 4"),
        (HEAD + "!,p,4,s,j,,2,a|b,1|2,,,\n", "log.csv:2: campaign: '!': a campaign name has"),
        ("a,a," + HEAD, "log.csv:1: two columns are named 'a'"),
    ],
)
def test_a_bad_file_is_named_with_line_and_column(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(FormatError, match=words):
        list(read(tmp_path / "log.csv", format="uniform"))


def test_a_broken_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.csv.gz").write_bytes(b"\x1f\x8b\x08broken")
    with pytest.raises(FormatError, match=r"log.csv.gz: can't be read"):
        list(read(tmp_path / "log.csv.gz"))


def test_a_kind_of_judge_is_the_source_unless_there_is_one(tmp_path: Path) -> None:
    head = "campaign,pair,seq,segment,judge,judge_type,systems,ranks,source"
    rows = ["c,,1,s,j,turker,a|b,1|2,", "c,,2,s,j,turker,a|b,1|2,platform", "c,,3,s,j,,a|b,1|2,"]
    file = tmp_path / "log.csv"
    file.write_text("\n".join([head, *rows, ""]))
    assert [entry.judgment.source for entry in read(file)] == ["turker", "platform", None]


def test_a_reading_collects_shared_outputs_on_request(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("campaign,pair,seq,segment,judge,systems,ranks\nc,,1,s,j,a+b|d,1|2\nc,,2,s,j,a|b,1|2\n")
    reading = formats.read(file)
    shared = reading.shared = {}
    assert [entry.judgment.systems for entry in reading] == [("a", "b", "d"), ("a", "b")]
    assert shared == {"c.1": (("a", "b"), ("d",))}
