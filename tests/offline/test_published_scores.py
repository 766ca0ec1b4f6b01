"""Published results of files of scores, by one command each and without a hint about the format."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from streams import formats
from streams.cli.main import cli
from streams.offline.score_clusters import ScoreTest
from streams.wire.events import Leaderboard
from tests.data import real_log

pytestmark = pytest.mark.data


class PublishedOutput(msgspec.Struct):
    campaigns: list[Leaderboard]
    tests: list[ScoreTest]


def clusters(name: str) -> tuple[Leaderboard, list[ScoreTest]]:
    result = CliRunner().invoke(cli, ["clusters", str(real_log(name)), "--json"])
    assert result.exit_code == 0, result.output
    output = msgspec.json.decode(result.stdout, type=PublishedOutput)
    (board,) = output.campaigns
    return board, output.tests


def official(name: str) -> list[list[str]]:
    return [line.split() for line in Path(real_log(f"wmt21_da_official/{name}")).read_text().splitlines()]


@pytest.mark.parametrize(("source", "target"), [("cs", "en"), ("de", "en")])
def test_wmt21_direct_assessment(source: str, target: str) -> None:
    board, tests = clusters(f"raw/wmt21.ad-{source}{target}-good-stnd-redup.csv.gz")
    published = [(row[4], float(row[1])) for row in official(f"ad-sys-ranking-{source}-{target}-z-names.csv")]
    assert [row.system for row in board.rows] == [system for system, _ in published]
    assert [row.score for row in board.rows] == pytest.approx([z for _, z in published], abs=0.001)

    ranges = [row for row in official("clusters.csv") if row[:2] == [source, target]]
    assert [[row.system, str(row.rank_low), str(row.rank_high)] for row in board.rows] == [
        [row[7], row[4], row[5]] for row in ranges
    ]

    header, *matrix = official(f"ad-DA-diff-wilcoxon-rs-{source}{target}.csv")
    cells = {(row[0], other): cell for row in matrix for other, cell in zip(header, row[1:], strict=True)}
    assert len(tests) == len(published) * (len(published) - 1) // 2
    for test in tests:
        cell = cells[test.system, test.opponent]
        assert test.stars == cell.lstrip("-.0123456789")
        assert test.difference == pytest.approx(float(cell.rstrip("*")), abs=0.0051)


TED = {
    "ref": 0.91,  # ref.A
    "Facebook-AI": 1.06,
    "Online-W": 1.12,
    "VolcTrans-AT": 1.24,
    "metricsystem3": 1.44,
    "VolcTrans-GLAT": 1.49,
    "HuaweiTSC": 1.50,
    "metricsystem1": 1.63,
    "metricsystem2": 1.69,
    "metricsystem5": 1.72,
    "UEdin": 1.77,
    "metricsystem4": 1.78,
    "eTranslation": 1.96,
    "Nemo": 2.14,
}


def test_mqm_of_the_ted_talks() -> None:
    """The published scores are penalties. Here they are negative, so that higher is better."""
    board, _ = clusters("raw/mqm_ted_ende.tsv.gz")
    assert [row.system for row in board.rows] == list(TED)
    assert [-row.score for row in board.rows] == pytest.approx(list(TED.values()), abs=0.01)


@pytest.mark.parametrize(("export", "derived"), [("esaai", "ESAAI-1"), ("mqm", "MQM-1")])
def test_appraise_exports_have_the_segment_scores_that_their_owners_derived(export: str, derived: str) -> None:
    """Each document is a run of the published segments, at the same place for all systems.

    Parts of documents that tasks cut have unknown places; their scores are compared as a multiset.
    """
    published: dict[str, list[float]] = defaultdict(list)
    with gzip.open(real_log(f"raw/mt-metrics-eval.en-de.{derived}.seg.score.gz"), "rt") as lines:
        for line in lines:
            system, _, text = line.strip().partition("\t")
            if text != "None":
                published[system].append(round(float(text), 6))
    found: dict[str, list[float]] = defaultdict(list)
    documents: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for _, judgment in formats.read(real_log(f"raw/appraise.{export}.en-de.csv.gz")):
        system, score = judgment.systems[0].removeprefix("wmt23."), round(judgment.score or 0.0, 6)
        found[system].append(score)
        document, _, place = judgment.segment.rpartition(":")
        if ":" not in document:
            documents[document][system][int(place)] = score
    assert {system: sorted(scores) for system, scores in found.items()} == {
        system: sorted(scores) for system, scores in published.items()
    }
    assert len(documents) == 71
    for by_system in documents.values():
        places = [
            _runs(published[system], [scores[place] for place in sorted(scores)])
            for system, scores in by_system.items()
        ]
        assert set.intersection(*places)


def _runs(scores: list[float], part: list[float]) -> set[int]:
    return {k for k in range(len(scores)) if scores[k : k + len(part)] == part}


def test_a_wave_of_wmt24_is_read_with_all_that_it_leaves_out() -> None:
    reading = formats.read(real_log("raw/wmt24.esa.wave3.csv.gz"))
    campaigns = {entry.judgment.campaign for entry in reading}
    assert {name.rpartition(".")[2] for name in campaigns} == {"en-ja", "en-zh"}
    assert reading.summary.judgments == 8_762
    assert reading.summary.left_out == {
        "a control (BAD)": 1_365,
        "a tutorial": 673,
        "an incomplete document": 334,
        "a duplicate that fills a task": 88,
        "replaced by a later submission": 77,
    }
