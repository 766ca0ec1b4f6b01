"""The page shows how far a leaderboard can be trusted: lines, islands, cautions, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.wire.leaderboard import BoardOutlook, Caution, Leaderboard, Row
from tests.browser.tab import PHONE, Tab
from tests.browser.test_accessibility import serious
from tests.browser.test_layout import CUT, OVERLAPS, SIDEWAYS
from tests.builders import judgment
from tests.monitor.site import running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.integration


def row(
    system: str,
    rank: int,
    cluster: int,
    score: float,
    *,
    line: str | None = None,
    others: tuple[int, int] | None = None,
    island: int = 1,
) -> Row:
    low, high = others or (None, None)
    return Row(
        system=system,
        rank=rank,
        rank_low=rank,
        rank_high=rank,
        cluster=cluster,
        score=score,
        deviation=0.1,
        judgments=9,
        judge_rank_low=low,
        judge_rank_high=high,
        line_above=line,  # type: ignore[arg-type]
        island=island,
    )


BOARD = Leaderboard(
    campaign="c",
    model="trueskill",
    sequence=1,
    offset=1000,  # newer than the leaderboards that are published
    judgments=1,
    rows=(
        row("a", 1, 1, 1.0, others=(1, 2)),
        row("b", 2, 2, 0.0, line="judgments", others=(1, 2)),
        row("c", 3, 3, -1.0, line="judges", others=(3, 3)),
        row("x", 1, 1, 0.5, island=2),
        row("y", 2, 1, -0.5, island=2),
    ),
    judges=7,
    elo_per_score=200.0,
    fragility=3,
    outlook=BoardOutlook(
        state="budget_spent", message="The budget is spent; a and b are not apart.", above="a", below="b"
    ),
    cautions=tuple(
        Caution(code=code, message=f"Take care of {code}.", link=f"docs/ranking.md#{code}")
        for code in ("islands", "ties", "one_judge", "sweeps")
    ),
    left_out={"repeated": 12, "suspended": 0},
    pending="A judge is being suspended. The ranking still includes them.",
)
BORDERS = """() => Object.fromEntries([...document.querySelectorAll(".board tr[data-system]")].map(row => {
  const { borderTopWidth, borderTopStyle } = getComputedStyle(row.querySelector("td"));
  return [row.dataset.system, borderTopWidth === "2px" ? borderTopStyle : null];
}))"""


def scores(tab: Tab) -> list[str]:
    return [line.locator("td").nth(4).inner_text() for line in tab.find(".board tr[data-system]").all()]


def test_the_page_says_how_far_a_board_can_be_trusted(chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReadOnlyCampaign, "leaderboard", lambda _: BOARD)
    tab = Tab.open(chromium)
    with running() as monitor:
        monitor.publish(*(judgment(i, systems=pair) for i, pair in enumerate((("a", "b"), ("b", "c"), ("x", "y")))))
        tab.page.goto(f"{monitor.url}/#/c")
        tab.find(".board tr[data-system]").first.wait_for()
        assert tab.evaluate(BORDERS) == {"a": None, "b": "dashed", "c": "solid", "x": None, "y": None}
        assert tab.find(".board .island").all_inner_texts()[1].startswith("Island 2: 2 systems, never compared")
        assert tab.find(".board [data-system=a] .others").inner_text() == "1–2"
        assert tab.find(".board [data-system=x] .others").inner_text() == "?"
        assert tab.find(".board [data-system=c] .plot").inner_text().endswith("a line that holds for other judges too")
        assert tab.find(".legend li:visible").count() == 4
        assert tab.find(".outlook .state").inner_text() == "budget spent"
        assert tab.find(".leaderboard .trouble").inner_text() == BOARD.pending
        trust = tab.find(".trust").inner_text()
        assert "Take care of islands." in trust
        assert "1 more" in trust
        assert "depends on 3 judgments" in trust
        assert "Left out: 12 repeated votes." in trust
        tab.find("#trust-islands summary").click()
        assert "docs/ranking.md#islands" in tab.find("#trust-islands").inner_text()
        assert scores(tab) == ["1.00", "0.00", "−1.00", "0.50", "−0.50"]
        tab.find("[aria-label='Scale of the scores']").select_option("elo")
        assert scores(tab) == ["1200", "1000", "800", "1100", "900"]
        tab.find(".anchor").select_option("c")
        assert scores(tab) == ["1400", "1200", "1000", "1100", "900"]
        tab.page.reload()  # the choice is remembered
        tab.wait_until("() => document.querySelector('.board thead .score')?.textContent === 'Elo'")
        assert scores(tab) == ["1400", "1200", "1000", "1100", "900"]
        tab.walk()
        assert serious(tab) == []
        tab.page.set_viewport_size({"width": PHONE, "height": 844})
        assert tab.evaluate(SIDEWAYS) == 0
        assert tab.evaluate(CUT) == []
        assert tab.evaluate(OVERLAPS) == []
    assert tab.troubles == []
    tab.close()
