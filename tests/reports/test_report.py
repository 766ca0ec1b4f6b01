"""Pages and figures: they are complete, run no foreign code and need no other file."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from streams.core.campaign.campaign import Campaign
from streams.core.ranking import PairCounts, rows
from streams.errors import JudgestreamError
from streams.reports import History, Report, short_names
from streams.reports.html_heatmap import MOST_SYSTEMS
from streams.reports.html_page import html_page
from streams.reports.html_table import leaderboard_table
from streams.reports.notes import count_clusters
from streams.reports.provenance import Provenance
from streams.reports.report import MOST_POINTS, shorten_names
from streams.reports.score_axis import ScoreAxis
from streams.wire.events import Leaderboard
from tests.builders import judgment, unzip
from tests.reports.campaigns import crowd, rated

if TYPE_CHECKING:
    from streams.wire.events import Judgment

HOSTILE = "<script>alert(1)</script>&\"'"


def report(log: list[Judgment]) -> Report:
    (campaign,) = rated(log).campaigns.values()
    return Report(leaderboard=campaign.leaderboard(), counts=campaign.tables.pair_counts())


class Parsed(HTMLParser):
    """The elements and texts of a page. It fails if the elements are not nested correctly."""

    VOID = frozenset({"meta", "line"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_page_holds_every_system_in_order_with_its_figures() -> None:
    found = report(crowd(400))
    texts = Parsed(html_page([found])).texts
    names = [row.system for row in found.leaderboard.rows]
    assert [text for text in texts if text in names] == names * 2  # on the leaderboard and head to head
    assert found.about in texts
    for row in found.leaderboard.rows:
        assert f"{row.score:+.2f} " in texts
        assert f"{row.judgments:,}" in texts


def test_a_page_has_a_line_between_clusters() -> None:
    found = report(crowd(400))
    bodies = leaderboard_table(found.leaderboard).split("<tbody")[1:]
    assert len(bodies) == count_clusters(found.leaderboard.rows) > 2
    for cluster, body in enumerate(bodies, start=1):
        mine = [row.system for row in found.leaderboard.rows if row.cluster == cluster]
        assert re.findall(r"<bdi>(.*?)</bdi>", body) == mine


def test_a_page_needs_no_other_file() -> None:
    text = html_page([report(crowd(60)), report(crowd(60))])
    parsed = Parsed(text)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(parsed.tags)
    assert not re.search(r"https?:|url\(|@import|//[a-z]", text)
    assert [value for name, value in parsed.attributes if name == "href"] == ["#c0", "#c1"]
    assert "default-src 'none'" in text


def test_a_hostile_name_is_text_and_nothing_else() -> None:
    parsed = Parsed(html_page([report([judgment(systems=(HOSTILE, "b"))])]))
    assert "script" not in parsed.tags
    titles = [value for name, value in parsed.attributes if name == "title"]
    assert f"{HOSTILE} against b: 100 % without ties, 1 comparisons" in titles
    assert parsed.texts.count(HOSTILE) == 2


def test_whiskers_lie_where_the_scores_are() -> None:
    board = Leaderboard(
        campaign="c",
        model="m",
        sequence=1,
        offset=0,
        judgments=1,
        rows=rows(["a", "b"], np.array([1.0, -1.0]), np.array([0.1, 0.1]), [1, 1]),
    )
    axis = ScoreAxis.of(board)
    dots = [float(x) for x in re.findall(r'class="dot" x1="([\d.]+)"', leaderboard_table(board))]
    assert dots == pytest.approx([100 * axis.share(1.0), 100 * axis.share(-1.0)], abs=0.01)
    assert 0 < dots[1] < 50 < dots[0] < 100


def test_head_to_head_says_who_was_preferred_and_who_never_met() -> None:
    log = [judgment(k, systems=("a", "b"), ranks=(1, 2) if k % 4 else (2, 1)) for k in range(8)]
    text = html_page([report([*log, judgment(9, systems=("b", "c"), ranks=(1, 1))])])
    assert "a against b: 75 % without ties, 8 comparisons" in text
    assert "b against a: 25 % without ties, 8 comparisons" in text
    assert "b and c: 1 ties" in text
    assert "a and c never met" in text


def test_a_page_of_a_thousand_systems_says_what_it_leaves_out() -> None:
    names = tuple(f"s{k:03}" for k in range(1000))
    board = Leaderboard(
        campaign="c",
        model="m",
        sequence=1,
        offset=0,
        judgments=1,
        rows=rows(names, np.zeros(1000), np.ones(1000), [1] * 1000),
    )
    counts = PairCounts(
        systems=names,
        wins=np.ones((1000, 1000), np.int64),
        ties=np.zeros((1000, 1000), np.int64),
        judgments=np.ones(1000, np.int64),
    )
    text = html_page([Report(leaderboard=board, counts=counts)])
    assert f"The first {MOST_SYSTEMS} systems; 920 more are left out." in text
    assert len(text) < 3_000_000


def test_a_page_without_pairs_has_no_head_to_head() -> None:
    campaign = Campaign("c")
    text = html_page([Report(leaderboard=campaign.leaderboard(), counts=campaign.tables.pair_counts())])
    assert "Head to head" not in text
    Parsed(text)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["x.a.de-en", "x.b.de-en"], ["a", "b"]),
        (["x.", "x.b"], ["x.", "x.b"]),
        (["same.same", "same"], ["same.same", "same"]),
        (["alone.b"], ["alone.b"]),
        ([], []),
    ],
)
def test_names_lose_only_what_all_share(names: list[str], short: list[str]) -> None:
    assert list(short_names(names).values()) == short


# -- ratings over time -------------------------------------------------------------------------------------


def test_a_history_stays_small_and_ends_where_the_campaign_is() -> None:
    campaign, history, log = Campaign("wmt.fr-en"), History(), crowd(3 * MOST_POINTS, systems=3)
    for offset, each in enumerate(log):
        campaign.apply(*unzip([(offset, each)]))
        history.observe(campaign)
    assert MOST_POINTS // 3 < len(history.judgments) <= MOST_POINTS + 1
    steps = np.diff(history.judgments)
    assert steps.max() <= 2 * steps.min() + 1
    assert history.judgments[-1] > len(log) - 2 * steps.max()


def test_a_history_knows_each_system_from_its_first_judgment_on() -> None:
    campaign, history = Campaign("c"), History()
    for offset, systems in enumerate([("a", "b"), ("b", "c")]):
        campaign.apply(*unzip([(offset, judgment(offset, systems=systems))]))
        history.observe(campaign)
    mean, _ = campaign.model.scores()
    assert np.isnan(history.of("c")).tolist() == [True, False]
    assert [history.of(name)[-1] for name in ("a", "b", "c")] == mean.tolist()


# -- figures -----------------------------------------------------------------------------------------------


def with_history(log: list[Judgment]) -> Report:
    campaign, history = Campaign(log[0].campaign), History()
    for start in range(0, len(log), 20):
        campaign.apply(*unzip(list(enumerate(log))[start : start + 20]))
        history.observe(campaign)
    return Report(leaderboard=campaign.leaderboard(), counts=campaign.tables.pair_counts(), history=history)


def texts(report: Report) -> list[str]:
    from streams.reports.canvas import figure_bytes
    from streams.reports.plots import ranking_figure

    svg = figure_bytes(ranking_figure(report), suffix=".svg").decode()
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_a_figure_has_three_parts_with_every_system() -> None:
    found = with_history(crowd(400))
    shown = texts(found)
    for title in ("Rank ranges at 95 %", "Row preferred", "Ratings over time, by trueskill"):
        assert any(text.startswith(title) for text in shown), title
    for row in found.leaderboard.rows:
        assert shown.count(row.system) == 2  # its ranks, its line


def test_a_figure_of_scores_has_no_empty_head_to_head() -> None:
    log = [judgment(k, systems=("ab"[k % 2],), ranks=None, score=float(k % 5)) for k in range(40)]
    (campaign,) = rated(log, "assessment").campaigns.values()
    drawn = texts(Report(leaderboard=campaign.leaderboard(), counts=campaign.tables.pair_counts()))
    assert "Rank ranges at 95 %" in drawn
    assert "Row preferred to column, in %" not in drawn


@pytest.mark.long
def test_the_same_ranking_gives_the_same_file() -> None:
    from streams.reports.canvas import figure_bytes
    from streams.reports.plots import ranking_figure

    found = with_history(crowd(100))
    assert figure_bytes(ranking_figure(found), suffix=".svg") == figure_bytes(ranking_figure(found), suffix=".svg")


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_figure_is_of_the_kind_that_is_asked_for(suffix: str, magic: bytes) -> None:
    from streams.reports.canvas import figure_bytes
    from streams.reports.plots import ranking_figure

    assert figure_bytes(ranking_figure(with_history(crowd(40))), suffix=suffix).startswith(magic)


@pytest.mark.parametrize("name", ["$x^$", "系统", "a\nb", "x" * 200])
def test_a_name_of_any_letters_can_be_drawn(name: str) -> None:
    texts(report([judgment(systems=(name, "b"))]))


@pytest.mark.long
@pytest.mark.parametrize("systems", [2, 40])
def test_few_and_many_systems_can_be_drawn(systems: int) -> None:
    texts(with_history(crowd(200, systems=systems)))


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from streams.reports.plots import ranking_figure

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(JudgestreamError, match=r"pip install 'judgestream\[plot\]'"):
        ranking_figure(report(crowd(20)))


def test_labels_move_apart_and_stay_in_order() -> None:
    from streams.reports.plots import spread

    heights = sorted(np.random.default_rng(1).normal(size=30).tolist(), reverse=True)
    moved = spread(heights, gap=0.2)
    assert (-np.diff(moved) > 0.2 - 1e-9).all()
    assert spread([3.0, 2.0, 1.0], gap=0.5) == [3.0, 2.0, 1.0]


def test_ratings_of_another_model_are_not_drawn_beside_a_ranking() -> None:
    found = with_history(crowd(400))
    other = replace(found, leaderboard=msgspec.structs.replace(found.leaderboard, model="expected-wins"))
    assert not any(text.startswith("Ratings over time") for text in texts(other))


def test_long_names_are_cut_in_the_middle_and_stay_different() -> None:
    names = [f"vendor/model-family-{k:02d}-instruct-preview-2024-08-06" for k in range(60)]
    short = shorten_names(names, 30)
    assert len(set(short.values())) == 60
    assert max(map(len, short.values())) <= 30
    assert all(f"-{k:02d}" in short[name] for k, name in enumerate(names))
    hostile = ["aaaa…aaaa", "a" * 20, "a" * 21, "a" * 22]
    assert len(set(shorten_names(hostile, 9).values())) == 4


def test_what_tells_long_names_apart_stays_wherever_it_is() -> None:
    names = [f"lab-{k % 7}/a-long-name-with-many-parts-{k:02d}-instruct-2407-q4_K_M" for k in range(60)]
    short = shorten_names(names, 36)
    assert max(map(len, short.values())) <= 36
    assert all(f"{k:02d}-instruct" in short[name] for k, name in enumerate(names))
    words = ["x" * 40 + letter + "y" * 19 for letter in "abc"]
    assert all(words[k][40] in cut for k, cut in enumerate(shorten_names(words, 30).values()))


def test_a_page_says_where_it_comes_from_and_what_its_words_mean() -> None:
    about = Provenance(
        file="<b>.csv", at=datetime(2024, 5, 1, 9, 30, tzinfo=UTC), options="--model trueskill", version="1.2"
    )
    page = html_page([with_history(crowd(50))], about)
    assert "&lt;b&gt;.csv, 2024-05-01 09:30 UTC, <code>--model trueskill</code>, Judgestream 1.2" in page
    for term in ("Rank", "Range", "Cluster", "Score ± dev.", "Head to head"):
        assert f"<dt>{term}</dt>" in page
