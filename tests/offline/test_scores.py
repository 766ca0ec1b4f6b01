"""Logs of direct assessment: the model that fits, the range of the scores, and published results."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import streams
from streams.errors import FormatError, ParameterError
from streams.offline.planning import plan_ranking
from streams.offline.rating import rate
from streams.offline.scores import choose_model
from streams.wire.events import EPOCH, Judgment
from tests.builders import judgment
from tests.data import real_log


def score(number: int, system: str, value: float, *, segment: str = "s", campaign: str = "c") -> Judgment:
    return judgment(number, systems=(system,), ranks=None, score=value, segment=segment, campaign=campaign)


def likert(*, shift: float = 0.0) -> list[Judgment]:
    """Draw scores from 1 to 7 of three systems."""
    random = np.random.default_rng(1)
    drawn = np.clip(np.round(random.normal([3, 4, 5], 1.0, (20, 3))), 1, 7)
    drawn[0, 0], drawn[0, 2] = 1, 7
    drawn += shift
    return [score(3 * k + i, "abc"[i], float(drawn[k, i]), segment=f"s{k}") for k in range(20) for i in range(3)]


def test_the_first_judgment_chooses_the_model() -> None:
    scores, rankings = likert(), [judgment(900), judgment(901)]
    assert choose_model([[], scores])[0] == "assessment"
    assert choose_model([rankings])[0] == "trueskill"
    assert choose_model([])[0] == "trueskill"
    model, batches = choose_model([rankings, scores], only=["c"])
    assert (model, [len(batch) for batch in batches]) == ("trueskill", [2, 60])
    other = [judgment(1, campaign="other")]
    assert choose_model([other, scores], only=["c"])[0] == "assessment"


def test_a_log_of_scores_is_ranked_without_any_option() -> None:
    for shift in (0.0, -50.0, 1000.0):
        ranking = streams.rank(likert(shift=shift))
        assert [row.system for row in ranking.rows] == ["c", "b", "a"]
        assert ranking.leaderboards[0].model == "assessment"
        assert ranking.rejected == 0


def test_the_range_is_that_of_the_log_or_as_given() -> None:
    """Only the raw scale depends on it: one prior observation with the variance of the range."""
    log = likert()
    by_log, by_option = (streams.rank(log, parameters={"scale": "raw"}, score_range=each) for each in (None, (1, 7)))
    assert by_log.rows == by_option.rows
    wider = streams.rank(log, parameters={"scale": "raw"}, score_range=(0, 100)).rows
    scores = np.array([each.score for each in log if each.systems == ("a",)], np.float64)
    for row, width in ((by_log.rows[-1], 6), (wider[-1], 100)):
        assert row.score == pytest.approx(np.mean(scores))
        squares = np.sum((scores - np.mean(scores)) ** 2) + width**2 / 12
        assert row.deviation == pytest.approx(np.sqrt(squares) / 20, rel=0.15)  # here it is by groups of segments


def test_the_range_does_not_depend_on_the_batches() -> None:
    settings = plan_ranking("assessment", parameters={"scale": "raw"}).settings
    log = likert()
    whole, split = rate([log], settings), rate([log[:7], log[7:8], log[8:]], settings)
    assert whole.campaigns["c"].leaderboard().rows == split.campaigns["c"].leaderboard().rows
    equal = rate([[score(1, "a", 5.0), score(2, "b", 5.0)]], settings).campaigns["c"].leaderboard().rows
    assert all(np.isfinite(row.deviation) and row.deviation > 0 for row in equal)


def test_a_score_outside_the_given_range_is_rejected() -> None:
    ranking = streams.rank(likert(), score_range=(1, 6))
    assert ranking.rejected == sum(each.score == 7 for each in likert()) > 0
    assert "`score` is 7; the campaign 'c' takes scores from 1 to 6" in ranking.first_rejection
    with pytest.raises(ParameterError, match="`score_range` is 7 to 1"):
        streams.rank(likert(), score_range=(7, 1))
    with pytest.raises(ParameterError, match="omit the score range"):
        streams.rank([judgment(1)], score_range=(1, 7))


def test_when_nothing_was_rated_the_model_that_fits_is_named() -> None:
    with pytest.raises(FormatError, match=r"nothing was rated: 60 of 60 .* the model 'assessment' ranks scores"):
        streams.rank(likert(), model="trueskill")
    with pytest.raises(FormatError, match="ranks instead of a score, and the model 'assessment' rates scores only"):
        streams.rank([judgment(1)], model="assessment")


def test_a_log_with_both_reports_what_is_left_out() -> None:
    mixed = [judgment(900, campaign="r"), *likert()]
    ranking = streams.rank(mixed)
    assert (ranking.campaigns, ranking.rejected) == (("r",), 60)
    assert "the model 'assessment' ranks scores" in ranking.first_rejection
    assert streams.rank(mixed, campaigns=["c"]).campaigns == ("c",)


def wmt21(pair: str) -> list[tuple[str, str, str, str, float]]:
    """Return judge, system, kind of row, segment and z score of each row."""
    with gzip.open(real_log(f"raw/wmt21.ad-{pair}-good-stnd-redup.csv.gz"), "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    return [(row[1], row[6], row[8], row[9], float(row[10])) for row in rows]


@pytest.mark.data
@pytest.mark.parametrize(("pair", "codes", "systems"), [("csen", "cs-en", 9), ("deen", "de-en", 20)])
@pytest.mark.parametrize("scale", ["z", "raw"])
def test_the_official_z_means_of_wmt21_come_out(pair: str, codes: str, systems: int, scale: str) -> None:
    """The file has scores that were standardised per judge over all rows, references and controls included.

    The official means are of the rows SYSTEM and REPEAT. With `raw`, these rows alone are rated. With `z`, the other
    rows are rated as systems of their own, so that each judge's mean and deviation come from all of their scores.
    """
    official = Path(real_log(f"wmt21_da_official/ad-sys-ranking-{codes}-z-names.csv")).read_text().splitlines()
    published = {row.split()[4]: float(row.split()[1]) for row in official}
    log = [
        Judgment(
            id=str(number),
            campaign=codes,
            segment=segment,
            judge=judge,
            systems=(system if kind in ("SYSTEM", "REPEAT") else f"{system}.{kind}",),
            score=z,
            at=EPOCH,
        )
        for number, (judge, system, kind, segment, z) in enumerate(wmt21(pair))
        if scale == "z" or kind in ("SYSTEM", "REPEAT")
    ]
    found = {row.system: row for row in streams.rank(log, parameters={"scale": scale}).rows}
    assert len(published) == systems
    for system, z in published.items():
        assert found[system].score == pytest.approx(z, abs=0.001)
    assert [system for system in found if system in published] == list(published)
