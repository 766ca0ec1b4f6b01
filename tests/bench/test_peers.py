"""Contenders of the comparison in memory: the log that they get, and that a missing package is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streams.bench.embedded import EmbeddedRun
from streams.bench.peers import LISTS, OURS, PEERS, Peer, PeerLog, compare, rate_trueskill
from streams.bench.synthetic_log import SyntheticLog
from streams.wire.decoding import decode
from streams.wire.events import Judgment


def test_a_slow_package_gets_a_prefix_and_says_so_and_a_missing_one_is_left_out() -> None:
    sizes: set[int] = set()

    def rate(package: Any, log: PeerLog) -> Callable[[], object]:
        run = rate_trueskill(package, log)

        def counted() -> None:
            sizes.add(len(log.left))
            run()

        return counted

    slow = Peer("trueskill, lists", "trueskill", "trueskill", rate, 10)
    missing = Peer("none", "no-such-package", "none", rate_trueskill)
    figures = {each.name: each for each in compare(50, repeats=2, peers=[slow, missing])}
    assert set(figures) == {*OURS, slow.name, f"{slow.name}, to {LISTS}"}
    assert figures[slow.name].note.endswith("prefix of 10")
    assert sizes == {10}
    assert all(len(each.values) == 2 for each in figures.values())


def test_lists_and_arrays_have_the_same_comparisons() -> None:
    log = PeerLog.draw(300)
    assert log.left == [f"system-{each}" for each in log.systems[:, 0]]
    assert log.places == [tuple(each) for each in log.ranks.tolist()]
    assert set(log.places) == {(1, 1), (1, 2), (2, 1)}
    assert len(log.first(7).right) == 7
    assert {peer.package for peer in PEERS} == {"choix", "evalica", "openskill", "trueskill"}


def test_the_log_is_the_same_as_json_and_as_csv() -> None:
    log = SyntheticLog(50, systems=5, campaigns=["x", "y"])
    (values,), (header, lines) = list(log.values()), list(log.csv_lines())
    judgments = [decode(value, max_bytes=1000) for value in values]
    winners = {"tie": (1, 1), "model_a": (1, 2), "model_b": (2, 1)}
    assert header == [b"model_a,model_b,winner,judge,question_id"]
    for judgment, line in zip(judgments, lines, strict=True):
        assert isinstance(judgment, Judgment)
        a, b, winner, judge, segment = line.decode().split(",")
        assert (judgment.systems, judgment.ranks) == ((a, b), winners[winner])
        assert (judgment.judge, judgment.segment) == (judge, segment)
    assert [judgment.campaign for judgment in judgments[:3]] == ["x", "y", "x"]
    assert [key for key, _ in log.keyed()][:2] == [b"x", b"y"]


def test_better_systems_win_more_often_and_some_matches_are_ties() -> None:
    _, systems, ranks = next(SyntheticLog(5000, systems=10).pairs())
    lower = np.where(systems[:, 0] < systems[:, 1], ranks[:, 0] < ranks[:, 1], ranks[:, 1] < ranks[:, 0])
    ties = ranks[:, 0] == ranks[:, 1]
    assert (systems[:, 0] != systems[:, 1]).all()
    assert 0.1 < ties.mean() < 0.3
    assert lower[~ties].mean() > 0.6


def test_an_embedded_run_rates_all_judgments_and_recovers_their_campaigns() -> None:
    run = EmbeddedRun(SyntheticLog(200, systems=4, campaigns=3))
    assert run.rate().cpu > 0
    before = {name: campaign.leaderboard().rows for name, campaign in run.processor.campaigns.items()}
    assert len(before) == 3
    assert run.recover().wall > 0
