"""`judgestream demo`: a simulated crowd judges the systems of a real competition."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import click

from streams.cli.terminal import INTERRUPTED, refuse_combination

if TYPE_CHECKING:
    from streams.cli.demo_screen import DemoClock
    from streams.crowd import Simulation

SHOW_SECONDS = 12.0
SERVED_SECONDS = 180.0


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
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Seed of the random number generator.",
)
@click.option(
    "--judges", type=click.IntRange(1, 1000), default=40, show_default=True, help="Number of simulated judges."
)
@click.option(
    "--careless",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="Share of judges who answer at random, from 0 to 1.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 1_000_000),
    default=10_000,
    show_default=True,
    help="Number of judgments to collect.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600),
    help="Duration in seconds; 0: as fast as possible.  [default: 12, with --serve 180]",
)
@click.option("--json", "as_object", is_flag=True, help="Print only the final leaderboard, as one JSON object.")
@click.option("--serve", is_flag=True, help="Show the demo on a web page, until Ctrl-C.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port of the web page; 0: any free port.",
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

    The judges answer match requests. Their verdicts are drawn from the published win rates; careless judges answer at
    random. No server is needed: log, worker and store are in this process.
    """
    if serve:
        refuse_combination(serve=serve, json=as_object)
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
    from streams.cli import demo_screen, render
    from streams.crowd import WMT13_FR_EN, Competition, Simulation

    competition = Competition.load(WMT13_FR_EN)
    simulation = Simulation(competition, judges=judges, careless=careless, budget=budget, seed=seed)
    console = render.stdout_console()
    try:
        if as_object:
            deque(simulation.steps(), maxlen=0)
            click.echo(render.as_json([simulation.leaderboard()]))
            return
        clock = demo_screen.DemoClock(seconds=SHOW_SECONDS if seconds is None else seconds, budget=budget)
        if console.is_terminal and not console.is_dumb_terminal:
            demo_screen.play(simulation, console, clock)
        else:
            _print_progress(simulation, clock)
        demo_screen.print_comparison(simulation, console)
    except KeyboardInterrupt:
        click.echo(f"Stopped after {simulation.judgments:,} of {budget:,} judgments.", err=True)
        raise SystemExit(INTERRUPTED) from None


def _print_progress(simulation: Simulation, clock: DemoClock) -> None:
    """Print a line after each tenth of the budget."""
    click.echo(
        f"{simulation.competition.campaign}: {len(simulation.judges)} simulated judges, "
        f"{simulation.careless} of them careless, {simulation.budget:,} judgments"
    )
    tenths = 0
    for _ in simulation.steps():
        clock.wait(simulation.judgments)
        if simulation.judgments * 10 // simulation.budget > tenths:
            tenths = simulation.judgments * 10 // simulation.budget
            leaderboard = simulation.leaderboard()
            best = ", ".join(row.system for row in leaderboard.rows[:3])
            click.echo(f"{simulation.judgments:>9,} judgments   tau {simulation.tau(leaderboard):5.2f}   {best}")
    click.echo()
