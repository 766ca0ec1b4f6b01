"""`judgestream demo`: a simulated crowd works through a real competition while the leaderboard fills in."""

from __future__ import annotations

import time
from collections import deque
from itertools import zip_longest
from math import inf
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

    from streams.crowd import Simulation
    from streams.wire.events import Judgment, Leaderboard, MatchRequest

    Event = tuple[Judgment | None, MatchRequest | None]  # a judgment, and what was asked for after it

SHOW_SECONDS = 12.0
SERVED_SECONDS = 180.0
FRAMES_PER_SECOND = 8
RATE_SECONDS = 1.0  # window of the displayed rate
SCORES = (-0.75, 0.75)  # that the plot of the show spans, so that the whiskers are seen to shrink
LONGEST_FEED = 12
WIDE = 110
WIDEST = 120
ACCENT = "color(32)"


@click.command(
    "demo",
    epilog="""\b
Examples:
  judgestream demo
  judgestream demo --serve
  judgestream demo --careless 0.5 --budget 20000
  judgestream demo --json""",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=13, show_default=True, help="Same seed, same result."
)
@click.option("--judges", type=click.IntRange(1, 1000), default=40, show_default=True, help="Judges in the crowd.")
@click.option(
    "--careless",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="Share of the judges who answer without looking.",
)
@click.option(
    "--budget", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True, help="Judgments to collect."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600),
    help="How long the show takes; 0 is as fast as possible.  [default: 12, with --serve 180]",
)
@click.option("--json", "as_object", is_flag=True, help="No show: print the final leaderboard as one JSON object.")
@click.option("--serve", is_flag=True, help="Show it on the monitor's page in a browser, until Ctrl-C.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Of the page; 0 is a free one."
)
def command(
    *,
    seed: int,
    judges: int,
    careless: float,
    budget: int,
    seconds: float | None,
    as_object: bool,
    serve: bool,
    port: int,
) -> None:
    """Watch a simulated crowd rank the systems of WMT13 French-English.

    The judges answer match requests with verdicts drawn from the published win rates, except the careless
    ones, who do not look. No server is needed: log, worker and store live in this process.
    """
    if serve:
        if as_object:
            raise click.UsageError("--serve shows a page, and --json prints what would be on it; give one of them")
        from streams.cli.demo_page import serve_demo

        serve_demo(
            seed=seed,
            judges=judges,
            careless=careless,
            budget=budget,
            seconds=SERVED_SECONDS if seconds is None else seconds,
            port=port,
        )
        return
    from streams.cli import render
    from streams.crowd import WMT13_FR_EN, Competition, Simulation

    competition = Competition.load(WMT13_FR_EN)
    simulation = Simulation(competition, judges=judges, careless=careless, budget=budget, seed=seed)
    console = render.stdout_console()
    try:
        if as_object:
            deque(simulation.steps(), maxlen=0)
            click.echo(render.as_json([simulation.leaderboard()]))
            return
        pace = Pace(seconds=SHOW_SECONDS if seconds is None else seconds, budget=budget)
        if console.is_terminal and not console.is_dumb_terminal:
            _show(simulation, console, pace)
        else:
            _tell(simulation, pace)
        conclude(simulation, console)
    except KeyboardInterrupt:
        click.echo(f"Stopped after {simulation.judgments:,} of {budget:,} judgments.", err=True)
        raise SystemExit(130) from None


class Pace:
    """The clock of the show: it says when to go on and when to draw, and changes nothing of what happens.

    Judgments come ever faster, as the first ones move the leaderboard most.
    """

    def __init__(self, *, seconds: float, budget: int) -> None:
        from streams.reports.rate import WindowedRate

        self._seconds = seconds
        self._budget = budget
        self._start = time.monotonic()
        self._drawn = -inf  # when the last frame was drawn
        self._rate = WindowedRate(RATE_SECONDS)

    def _now(self) -> float:
        return time.monotonic() - self._start

    def wait(self, judgments: int) -> None:
        """Sleep until so many judgments are due."""
        due = self._seconds * (judgments / self._budget) ** 0.5
        time.sleep(max(0.0, due - self._now()))

    def draws(self, judgments: int) -> bool:
        """Return whether it is time for a frame."""
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


# -- on a terminal -----------------------------------------------------------------------------------------


def _show(simulation: Simulation, console: Console, pace: Pace) -> None:
    """Let the leaderboard fill in on a screen of its own, which is gone afterwards."""
    from rich.live import Live

    latest: deque[Event] = deque(maxlen=LONGEST_FEED)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for step in simulation.steps():
            pace.wait(simulation.judgments)
            latest.extend(zip_longest(step.answers, step.requests))
            if pace.draws(simulation.judgments):
                live.update(_screen(simulation, console, pace, latest), refresh=True)


def _screen(simulation: Simulation, console: Console, pace: Pace, latest: Sequence[Event]) -> RenderableType:
    """Fill the terminal: what goes on, the leaderboard, and in the lines that are left the latest judgments."""
    from rich.console import Group

    from streams.cli.render import Axis, LeaderboardTable

    leaderboard = simulation.leaderboard()
    width = min(console.width, WIDEST)
    header = _header(simulation, leaderboard, pace, width)
    left = console.height - len(header) - len(leaderboard.rows) - 2  # the table has a heading, ruled off
    rules = leaderboard.rows[-1].cluster - 1
    ruled = rules <= left
    left -= rules * ruled + 1
    table = LeaderboardTable(leaderboard=leaderboard, width=width, axis=Axis(*SCORES), ruled=ruled)
    feed = ("", _feed(list(latest)[-left:], wide=width >= WIDE)) if left > 0 else ()
    return Group(*header, table, *feed)


def _header(simulation: Simulation, leaderboard: Leaderboard, pace: Pace, width: int) -> list[RenderableType]:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

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
        (f"{pace.rate:,.0f}", "bold"),
        (" a second   ", "dim"),
        (f"{simulation.outstanding}", "bold"),
        (" match requests out   tau with the official order ", "dim"),
        (f"{simulation.tau(leaderboard):.2f}", "bold"),
    )
    return [title, progress, figures, ""]


def _feed(latest: Sequence[Event], *, wide: bool) -> Text:
    """Show the latest judgments and, on a wide terminal, what was asked for next."""
    from rich.text import Text

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
    """Write a judgment of two systems, the better one first."""
    (first, second), (one, other) = judgment.systems, judgment.ranks or (1, 1)
    if one == other:
        return f"{first} = {second}"
    return f"{first} > {second}" if one < other else f"{second} > {first}"


# -- elsewhere ---------------------------------------------------------------------------------------------


def _tell(simulation: Simulation, pace: Pace) -> None:
    """Say a line whenever another tenth of the budget is spent."""
    click.echo(
        f"{simulation.competition.campaign}: {len(simulation.judges)} simulated judges, "
        f"{simulation.careless} of them careless, {simulation.budget:,} judgments"
    )
    tenths = 0
    for _ in simulation.steps():
        pace.wait(simulation.judgments)
        if simulation.judgments * 10 // simulation.budget > tenths:
            tenths = simulation.judgments * 10 // simulation.budget
            leaderboard = simulation.leaderboard()
            best = ", ".join(row.system for row in leaderboard.rows[:3])
            click.echo(f"{simulation.judgments:>9,} judgments   tau {simulation.tau(leaderboard):5.2f}   {best}")
    click.echo()


def conclude(simulation: Simulation, console: Console) -> None:
    """Put the ranking beside the official one."""
    from rich.text import Text

    from streams.cli.render import Column, LeaderboardTable, rank_range

    leaderboard, competition = simulation.leaderboard(), simulation.competition
    by_name = {row.system: row for row in competition.official}
    official = [by_name[row.system] for row in leaderboard.rows]
    figures = (
        ("Kendall tau with the official order", f"{simulation.tau(leaderboard):.2f}"),
        ("rank ranges that overlap the official", f"{simulation.overlaps(leaderboard)} of {len(leaderboard.rows)}"),
        ("clusters", f"{leaderboard.rows[-1].cluster}, official {max(competition.clusters)}"),
        ("judgments", f"{leaderboard.judgments:,}, official {competition.comparisons:,}"),
        ("simulated judges", f"{len(simulation.judges)}, of whom {simulation.careless} careless"),
    )
    beside = (
        Column("official", [Text(rank_range(row.rank_low, row.rank_high)) for row in official], "right"),
        Column("score", [Text(f"{row.score:.3f}") for row in official], "right"),
    )
    console.print(LeaderboardTable(leaderboard=leaderboard, width=min(console.width, WIDEST), beside=beside))
    console.print()
    for name, figure in figures:
        console.print(Text.assemble((f"{name:<40}", "dim"), figure))
