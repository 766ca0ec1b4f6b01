"""The public logs have the published counts."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import pytest

from streams import formats
from streams.wire.events import Judgment
from tests.data import real_log

pytestmark = pytest.mark.long

XML, PAIRS = "raw/wmt15.pseudonymised.xml.gz", "raw/wmt15.fre-eng.pairs.csv.gz"


def comparisons(judgments: Iterator[Judgment]) -> Iterator[tuple[str, str, str, str, int]]:
    for judgment in judgments:
        ranked = sorted(zip(judgment.systems, judgment.ranks or (), strict=True))
        for (one, rank), (other, other_rank) in combinations(ranked, 2):
            outcome = (rank > other_rank) - (rank < other_rank)
            yield judgment.judge, judgment.segment, one, other, outcome


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "known_as", "campaign", "judgments", "pairs", "ties"),
    [
        ("raw/wmt13.fr-en.5way.csv.gz", "wmt-rankings", "wmt13.fr-en", 9_996, 99_960, 19_219),
        ("raw/llmfao.csv.gz", "arena", "llmfao", 8_931, 8_931, 3_471),
        (XML, "appraise", None, 28_260, 540_108, None),
        (PAIRS, "wmt-pairs", "wmt15.fr-en", 2_150, 29_770, None),
    ],
)
def test_a_raw_log_has_the_counts_that_are_stated(
    name: str, known_as: str, campaign: str | None, judgments: int, pairs: int, ties: int | None
) -> None:
    reading = formats.read(real_log(name))
    read = [entry.judgment for entry in reading]
    outcomes = Counter(outcome for *_, outcome in comparisons(iter(read)))
    assert reading.format is formats.FORMATS[known_as]
    assert (len(read), outcomes.total()) == (judgments, pairs)
    assert ties is None or outcomes[0] == ties
    assert campaign is None or {judgment.campaign for judgment in read} == {campaign}
    assert len({(judgment.campaign, judgment.id) for judgment in read}) == len(read)


@pytest.mark.data
def test_the_export_says_how_many_tasks_were_skipped_and_how_many_outputs_not_ranked() -> None:
    reading = formats.read(real_log(XML))
    campaigns = {entry.judgment.campaign for entry in reading}
    assert len(campaigns) == 10
    assert "wmt15.cs-en" in campaigns
    assert reading.summary.rows == 29_017
    assert reading.summary.left_out == {"skipped by the judge": 757}
    assert reading.summary.unranked == 3


@pytest.mark.data
def test_without_shared_ties_only_those_are_missing() -> None:
    # Counted in the text of the file: what was shown together, and the systems behind each output.
    text = gzip.decompress(real_log(XML).read_bytes()).decode()
    shown = expanded = shared = 0
    for result in re.findall(r"<ranking-result.*?</ranking-result>", text, re.DOTALL):
        outputs = re.findall(r'<translation system="([^"]*)" rank="[1-9]"', result)
        sizes = [output.count(",") + 1 for output in outputs]
        shown += len(sizes) * (len(sizes) - 1) // 2
        expanded += sum(sizes) * (sum(sizes) - 1) // 2
        shared += sum(size * (size - 1) // 2 for size in sizes)
    assert (shown, expanded) == (274_741, 540_108)
    reading = formats.read(real_log(XML), shared_ties=False)
    found = sum(len(judgment.systems) * (len(judgment.systems) - 1) // 2 for _, judgment in reading)
    assert found == expanded - shared


@pytest.mark.data
def test_the_export_and_the_comparisons_of_the_same_pair_are_the_same_judgments() -> None:
    exported = (entry.judgment for entry in formats.read(real_log(XML)) if entry.judgment.campaign == "wmt15.fr-en")
    compared = (entry.judgment for entry in formats.read(real_log(PAIRS)))
    assert Counter(comparisons(exported)) == Counter(comparisons(compared))
