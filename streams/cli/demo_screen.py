"""`judgestream demo` on a terminal: the leaderboard on a screen of its own, and the final comparison."""

from __future__ import annotations

import time
from collections import deque
from itertools import zip_longest
from math import inf
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from streams.cli.render import Column, LeaderboardTable, board_notes, extra_lines, rank_range, table_width
from streams.reports.notes import count_clusters
from streams.reports.rate import WindowedRate
from streams.reports.score_axis import ScoreAxis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from streams.crowd import Simulation
    from streams.wire.events import Judgment, Leaderboard, MatchRequest

    Event = tuple[Judgment | None, MatchRequest | None]  # a judgment, and the match request that followed it

FRAMES_PER_SECOND = 8
RATE_SECONDS = 1.0  # window of the displayed rate
SCORES = ScoreAxis(-0.75, 0.75)  # fixed, so that the whiskers can be seen to shrink
LONGEST_FEED = 12
WIDE = 110
ACCENT = "color(32)"


class DemoClock:
    """The clock of the demo: it spreads the judgments over time and limits the frames. The result does not change.

    Judgments come faster and faster, because the first ones change the leaderboard most.
    """

    def __init__(self, *, seconds: float, budget: int) -> None:
        self._seconds = seconds
        self._budget = budget
        self._start = time.monotonic()
        self._drawn = -inf  # when the last frame was drawn
        self._rate = WindowedRate(RATE_SECONDS)

    def _now(self) -> float:
        return time.monotonic() - self._start

    def wait(self, judgments: int) -> None:
        """Sleep until this number of judgments is due."""
        due = self._seconds * (judgments / self._budget) ** 0.5
        time.sleep(max(0.0, due - self._now()))

    def is_frame_due(self, judgments: int) -> bool:
        """Return whether it is time for the next frame."""
        now = self._now()
        if now < self._drawn + 1 / FRAMES_PER_SECOND:
            return False
        self._drawn = now
        self._rate.add(now, judgments)
        return True

    @property
    def rate(self) -> float:
        """Return the judgments per second over the last second."""
        return self._rate.at(self._drawn)


def play(simulation: Simulation, console: Console, clock: DemoClock) -> None:
    """Show the leaderboard on an alternate screen while the judgments come in."""
    latest: deque[Event] = deque(maxlen=LONGEST_FEED)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for step in simulation.steps():
            clock.wait(simulation.judgments)
            latest.extend(zip_longest(step.answers, step.requests))
            if clock.is_frame_due(simulation.judgments):
                live.update(draw_screen(simulation, console, clock, latest), refresh=True)


def draw_screen(simulation: Simulation, console: Console, clock: DemoClock, latest: Sequence[Event]) -> RenderableType:
    """Fill the terminal with the progress, the leaderboard and, in the lines that are left, the latest judgments."""
    leaderboard = simulation.leaderboard()
    width = table_width(console)
    header = _header(simulation, leaderboard, clock, width)
    left = console.height - len(header) - len(leaderboard.rows) - 2  # the table has a heading and a rule
    ruled = extra_lines(leaderboard.rows) <= left
    left -= extra_lines(leaderboard.rows, ruled=ruled) + 1
    table = LeaderboardTable(leaderboard=leaderboard, width=width, axis=SCORES, ruled=ruled)
    feed = ("", _feed(list(latest)[-left:], wide=width >= WIDE)) if left > 0 else ()
    return Group(*header, table, *feed)


def _header(simulation: Simulation, leaderboard: Leaderboard, clock: DemoClock, width: int) -> list[RenderableType]:
    title = Text.assemble(("Judgestream", "bold"), f"  {leaderboard.campaign}")
    crowd = f"a simulated crowd of {len(simulation.judges)}, {simulation.careless} careless"
    title.append(f"{crowd:>{max(0, width - len(title))}}", style="dim")
    progress = Table.grid(padding=(0, 1))
    progress.width = width
    progress.add_column(ratio=1)
    progress.add_column(justify="right")
    progress.add_row(
        ProgressBar(
            total=simulation.budget,
            completed=simulation.judgments,
            style="dim",
            complete_style=ACCENT,
            finished_style=ACCENT,
        ),
        Text(f"{simulation.judgments:,} of {simulation.budget:,} judgments"),
    )
    figures = Text.assemble(
        (f"{clock.rate:,.0f}", "bold"),
        (" per second   ", "dim"),
        (f"{simulation.outstanding}", "bold"),
        (" open match requests   tau with the official order ", "dim"),
        (f"{simulation.tau(leaderboard):.2f}", "bold"),
    )
    return [title, progress, figures, ""]


def _feed(latest: Sequence[Event], *, wide: bool) -> Text:
    """Return the latest judgments and, on a wide terminal, the next match requests."""
    feed = Text(no_wrap=True, overflow="ellipsis")
    for judgment, request in latest:
        judge, verdict = (judgment.judge.replace("-", " "), _verdict(judgment)) if judgment else ("", "")
        feed.append(f"{judge:>9}  ", style="dim")
        feed.append(f"{verdict:<48}")
        if wide and request:
            feed.append("next  ", style="dim")
            feed.append(f"{' or '.join(request.systems)}?")
        feed.append("\n")
    feed.right_crop()
    return feed


def _verdict(judgment: Judgment) -> str:
    """Return a judgment of two systems as text, the better one first."""
    (first, second), (one, other) = judgment.systems, judgment.ranks or (1, 1)
    if one == other:
        return f"{first} = {second}"
    return f"{first} > {second}" if one < other else f"{second} > {first}"


def print_comparison(simulation: Simulation, console: Console) -> None:
    """Print the final ranking next to the official one."""
    leaderboard, competition = simulation.leaderboard(), simulation.competition
    by_name = {row.system: row for row in competition.official}
    official = [by_name[row.system] for row in leaderboard.rows]
    flagged, found = simulation.count_flagged()
    figures = (
        ("Kendall tau with the official order", f"{simulation.tau(leaderboard):.2f}"),
        ("rank ranges that overlap the official", f"{simulation.overlaps(leaderboard)} of {len(leaderboard.rows)}"),
        ("clusters", f"{count_clusters(leaderboard.rows)}, official {max(competition.clusters)}"),
        ("judgments", f"{leaderboard.judgments:,}, official {competition.comparisons:,}"),
        ("simulated judges", f"{len(simulation.judges)}, of whom {simulation.careless} careless"),
        ("flagged judges", f"{flagged}, of whom {found} careless"),
    )
    beside = (
        Column("official", [Text(rank_range(row.rank_low, row.rank_high)) for row in official], "right"),
        Column("score", [Text(f"{row.score:.3f}") for row in official], "right"),
    )
    width = table_width(console)
    console.print(LeaderboardTable(leaderboard=leaderboard, width=width, beside=beside))
    for note in board_notes(leaderboard, width=width, ascii_only=console.options.ascii_only):
        console.print(note, width=width)
    console.print()
    for name, figure in figures:
        console.print(Text.assemble((f"{name:<40}", "dim"), figure))
    if found < simulation.careless:
        console.print(Text(simulation.detection_power.message, "dim"), width=width)
