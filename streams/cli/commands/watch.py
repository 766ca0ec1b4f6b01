"""`judgestream watch`: the leaderboard of a running campaign as it changes."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import click
import msgspec

from streams.cli.categories import CategoryChoice, category_options
from streams.cli.options import with_settings
from streams.cli.scale import ScoreUnit, scale_options
from streams.cli.stored_campaign import explained_quarantine, load_stored_campaign, open_store, summary
from streams.cli.terminal import safe
from streams.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console, RenderableType

    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.reports.views import CampaignView
    from streams.settings import Settings
    from streams.stores.redis.store import RedisStore
    from streams.wire.events import Leaderboard

WINDOW = 30.0  # seconds of the displayed rate
_AGES = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign at one time: `rate` is judgments per second, `age` is the seconds since the newest judgment.

    `moved` is the number of places that each system has gained since the start; it is negative for a loss.
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
  judgestream watch wmt26 --by domain --value news
  judgestream watch wmt13.fr-en --interval 10 > changes.jsonl""",
)
@click.argument("campaign")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1, max=3600),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two updates.",
)
@scale_options
@partial(category_options, one=True)
@click.option("--json", "as_lines", is_flag=True, help="Print one JSON object per change, also on a terminal.")
@with_settings("redis", "namespace")
def command(
    settings: Settings,
    *,
    campaign: str,
    interval: float,
    unit: ScoreUnit,
    category: CategoryChoice,
    as_lines: bool,
) -> None:
    """Follow the leaderboard of a running campaign until the campaign is closed, or until Ctrl-C.

    A terminal shows the leaderboard, the rate, the age of the newest judgment, and how many places each system has
    moved since the start. Without a terminal, every change is printed as one JSON object per line.
    """
    from streams.cli import render

    console = render.stdout_console()
    with open_store(settings) as store, explained_quarantine(store, campaign):
        results = frames(CampaignWatch(store, settings, campaign, unit, category), interval=interval)
        try:
            if as_lines or not console.is_terminal or console.is_dumb_terminal:
                _print_changes(results)
            else:
                _show(results, console)
        except KeyboardInterrupt:
            return  # the usual end of a watch


class CampaignWatch:
    """A campaign that is read again and again, with its first ranks and its rate."""

    def __init__(
        self,
        store: RedisStore,
        settings: Settings,
        name: str,
        unit: ScoreUnit | None = None,
        category: CategoryChoice | None = None,
    ) -> None:
        from streams.reports.rate import WindowedRate

        self._store, self._settings, self._name, self._unit = store, settings, name, unit or ScoreUnit()
        self._category = category or CategoryChoice()
        self._head: Mapping[str, str] = {}
        self._campaign: ReadOnlyCampaign | None = None
        self._ranks: dict[str, int] = {}
        self._rate = WindowedRate(WINDOW)

    def read_frame(self, *, at: datetime) -> Frame:
        """Read the campaign. The state is loaded again only if it has changed in the store."""
        from streams.reports.views import campaign_view

        head = self._store.read_head(self._name)
        if self._campaign is None or head != self._head:
            self._campaign, self._head = load_stored_campaign(self._store, self._settings, self._name), head
        (chosen,) = self._category.boards(self._campaign)
        board = self._unit.of(chosen)
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


def frames(watch: CampaignWatch, *, interval: float) -> Iterator[Frame | StoreUnavailable]:
    """Yield a frame per interval until the campaign is closed, or the error while the store does not answer."""
    first = True
    while True:
        try:
            frame = watch.read_frame(at=datetime.now(UTC))
        except StoreUnavailable as error:
            if first:
                raise
            yield error
        else:
            first = False
            yield frame
            if frame.view.state in ("closed", "archived"):
                return
        time.sleep(interval)


def _print_changes(results: Iterator[Frame | StoreUnavailable]) -> None:
    """Print one line per change."""
    from streams.wire.events import encode

    before: tuple[CampaignView, Leaderboard] | None = None
    away = False
    for result in results:
        if isinstance(result, StoreUnavailable):
            if not away:
                click.echo(f"{result}; trying again", err=True)
            away = True
            continue
        away = False
        if (result.view, result.leaderboard) != before:
            click.echo(encode(result))
            before = result.view, result.leaderboard


def _show(results: Iterator[Frame | StoreUnavailable], console: Console) -> None:
    """Update an alternate screen. The last frame stays on the terminal afterwards."""
    from rich.live import Live

    last: Frame | None = None
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            for result in results:
                trouble = f"{result}; trying again" if isinstance(result, StoreUnavailable) else ""
                last = last if isinstance(result, StoreUnavailable) else result
                if last:
                    live.update(screen(last, console, height=console.height, trouble=trouble), refresh=True)
    finally:
        if last:
            console.print(screen(last, console))


def screen(frame: Frame, console: Console, *, height: int | None = None, trouble: str = "") -> RenderableType:
    """Return a frame, cut to the height of the terminal."""
    from rich.console import Group
    from rich.text import Text

    from streams.cli.render import Column, LeaderboardTable, board_notes, extra_lines, table_width
    from streams.reports.notes import board_title, describe_board

    board, width = frame.leaderboard, table_width(console)
    header = [
        *summary(frame.view, board.outlook),
        *([] if board.category is None else [Text(safe(f"{board_title(board)}  {describe_board(board)}"), "bold")]),
        Text.assemble(
            (f"{frame.rate:,.1f}", "bold"),
            (" judgments per second   newest ", "dim"),
            (age_in_words(frame.age), "bold"),
            (" old   ", "dim"),
            (trouble, "color(166)"),
        ),
        Text(),
    ]
    notes = board_notes(board, width=width, ascii_only=console.options.ascii_only, outlook=False)
    rows, ruled = board.rows, True
    if height is not None:  # systems are more important than notes, and these than rules
        room = max(1, height - len(header) - 3)
        while len(rows) > 1 and len(rows) + extra_lines(rows, ruled=False) > room:
            rows = rows[:-1]
        room -= len(rows) + extra_lines(rows, ruled=False)
        notes = notes[: max(0, room)]
        ruled = sum(row.line_above is not None for row in rows) <= room - len(notes)
    cut = msgspec.structs.replace(board, rows=rows)
    moved = Column("moved", [Text(*_arrow(frame.moved[row.system])) for row in cut.rows], "right")
    table = LeaderboardTable(leaderboard=cut, width=width, ruled=ruled, beside=[moved])
    more = len(board.rows) - len(cut.rows)
    return Group(*header, table, *([Text(f"... {more:,} more", style="dim")] if more else []), *notes)


def _arrow(places: int) -> tuple[str, str]:
    if not places:
        return "=", "dim"
    return (f"▲{places}", "color(32)") if places > 0 else (f"▼{-places}", "color(166)")


def age_in_words(seconds: float) -> str:
    """Return an age as text.

    >>> age_in_words(0.4), age_in_words(200), age_in_words(100_000)
    ('0 s', '3 min', '1 d')
    """
    unit, size = next(((unit, size) for unit, size in _AGES if seconds >= size), _AGES[-1])
    return f"{seconds // size:.0f} {unit}"
