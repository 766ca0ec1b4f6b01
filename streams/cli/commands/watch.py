"""`judgestream watch`: a running campaign's leaderboard, followed as it changes."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec

from streams.cli.options import with_settings
from streams.cli.stored_campaign import load_stored_campaign, open_store, summary
from streams.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console, RenderableType

    from streams.core.campaign.campaign import Campaign
    from streams.reports.views import CampaignView
    from streams.settings import Settings
    from streams.stores.redis.store import RedisStore
    from streams.wire.events import Leaderboard

WINDOW = 30.0  # seconds of the displayed rate
_AGES = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign at one look: `rate` is judgments a second, `age` the seconds since the newest judgment was made.

    `moved` holds the places that a system has gained, or below 0 lost, since the watch began.
    """

    at: datetime
    rate: float
    age: float
    moved: dict[str, int]
    view: CampaignView
    leaderboard: Leaderboard


@click.command(
    "watch",
    epilog="""\b
Examples:
  judgestream watch wmt13.fr-en
  judgestream watch wmt13.fr-en --interval 10 > changes.jsonl""",
)
@click.argument("campaign")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1, max=3600),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two looks.",
)
@click.option("--json", "as_lines", is_flag=True, help="Print one JSON object a change, on a terminal too.")
@with_settings("redis", "namespace")
def command(settings: Settings, *, campaign: str, interval: float, as_lines: bool) -> None:
    """Follow the leaderboard of a running campaign until it is closed, or until Ctrl-C.

    On a terminal it is updated in place, with the rate, the age of the newest judgment and the places that each
    system has moved since the start. Elsewhere every change is one JSON object on a line.
    """
    from streams.cli import render

    console = render.stdout_console()
    with open_store(settings) as store:
        looks = frames(Following(store, settings, campaign), interval=interval)
        try:
            if as_lines or not console.is_terminal or console.is_dumb_terminal:
                _tell(looks)
            else:
                _show(looks, console)
        except KeyboardInterrupt:
            return  # how a watch ends


class Following:
    """The campaign that is followed, and what is remembered of it: where it began, and how fast it goes."""

    def __init__(self, store: RedisStore, settings: Settings, name: str) -> None:
        from streams.reports.rate import WindowedRate

        self._store, self._settings, self._name = store, settings, name
        self._head: Mapping[str, str] = {}
        self._campaign: Campaign | None = None
        self._ranks: dict[str, int] = {}
        self._rate = WindowedRate(WINDOW)

    def look(self, *, at: datetime) -> Frame:
        """Look once; the state is read again only if the store has moved on."""
        from streams.reports.views import campaign_view

        head = self._store.read_head(self._name)
        if self._campaign is None or head != self._head:
            self._campaign, self._head = load_stored_campaign(self._store, self._settings, self._name), head
        board = self._campaign.leaderboard()
        for row in board.rows:
            self._ranks.setdefault(row.system, row.rank)
        now = at.timestamp()
        self._rate.add(now, board.judgments)
        return Frame(
            at=at,
            rate=self._rate.at(now),
            age=max(0.0, now - self._campaign.clock.timestamp()),
            moved={row.system: self._ranks[row.system] - row.rank for row in board.rows},
            view=campaign_view(self._campaign),
            leaderboard=board,
        )


def frames(following: Following, *, interval: float) -> Iterator[Frame | StoreUnavailable]:
    """Look again and again until the campaign is closed; once it was found, a store that is away is waited for."""
    first = True
    while True:
        try:
            frame = following.look(at=datetime.now(UTC))
        except StoreUnavailable as error:
            if first:
                raise
            yield error
        else:
            first = False
            yield frame
            if frame.view.state == "closed":
                return
        time.sleep(interval)


def _tell(looks: Iterator[Frame | StoreUnavailable]) -> None:
    """Print what has changed, a line each."""
    from streams.wire.events import encode

    before: tuple[CampaignView, Leaderboard] | None = None
    away = False
    for look in looks:
        if isinstance(look, StoreUnavailable):
            if not away:
                click.echo(f"{look}; trying again", err=True)
            away = True
            continue
        away = False
        if (look.view, look.leaderboard) != before:
            click.echo(encode(look))
            before = look.view, look.leaderboard


def _show(looks: Iterator[Frame | StoreUnavailable], console: Console) -> None:
    """Update a screen of its own in place; what was last seen stays on the terminal afterwards."""
    from rich.live import Live

    last: Frame | None = None
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            for look in looks:
                trouble = f"{look}; trying again" if isinstance(look, StoreUnavailable) else ""
                last = last if isinstance(look, StoreUnavailable) else look
                if last:
                    live.update(screen(last, console, height=console.height, trouble=trouble), refresh=True)
    finally:
        if last:
            console.print(screen(last, console))


def screen(frame: Frame, console: Console, *, height: int | None = None, trouble: str = "") -> RenderableType:
    """Lay a look out, cut to the height of the terminal."""
    from rich.console import Group
    from rich.text import Text

    from streams.cli.render import Column, LeaderboardTable, table_width

    board = frame.leaderboard
    header = [
        *summary(frame.view),
        Text.assemble(
            (f"{frame.rate:,.1f}", "bold"),
            (" judgments a second   newest ", "dim"),
            (age_in_words(frame.age), "bold"),
            (" old   ", "dim"),
            (trouble, "color(166)"),
        ),
        Text(),
    ]
    room = len(board.rows) if height is None else max(1, height - len(header) - 3)
    lines = len(board.rows) + (board.rows[-1].cluster - 1 if board.rows else 0)
    ruled = height is None or lines <= room
    cut = msgspec.structs.replace(board, rows=board.rows[:room])
    moved = Column("moved", [Text(*_arrow(frame.moved[row.system])) for row in cut.rows], "right")
    table = LeaderboardTable(leaderboard=cut, width=table_width(console), ruled=ruled, beside=[moved])
    left = len(board.rows) - len(cut.rows)
    return Group(*header, table, *([Text(f"... {left:,} more", style="dim")] if left else []))


def _arrow(places: int) -> tuple[str, str]:
    if not places:
        return "=", "dim"
    return (f"▲{places}", "color(32)") if places > 0 else (f"▼{-places}", "color(166)")


def age_in_words(seconds: float) -> str:
    """Write how long ago something was.

    >>> age_in_words(0.4), age_in_words(200), age_in_words(100_000)
    ('0 s', '3 min', '1 d')
    """
    unit, size = next(((unit, size) for unit, size in _AGES if seconds >= size), _AGES[-1])
    return f"{seconds // size:.0f} {unit}"
