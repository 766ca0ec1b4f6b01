"""`judgestream watch`: a look shows rate, age and movement; changes are lines; it ends cleanly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console

from streams.cli.categories import CategoryChoice
from streams.cli.commands import watch
from streams.cli.commands.watch import CampaignWatch, Frame, frames, screen
from streams.core.campaign.campaign import Campaign
from streams.errors import JudgestreamError, StoreUnavailable
from streams.reports.views import campaign_view
from streams.settings import Settings
from streams.wire.events import Close
from tests.builders import judgment
from tests.reports.boards import CAUTION, settled_board
from tests.reports.campaigns import LATER, Running, crowd, opened

if TYPE_CHECKING:
    from streams.stores.redis.store import RedisStore


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Running:
    running = Running(monkeypatch)
    running.take(opened(budget=1000), *crowd(100))
    return running


def following(running: Running) -> CampaignWatch:
    return CampaignWatch(cast("RedisStore", running.store), Settings(), "wmt.fr-en")


def close(running: Running) -> None:
    running.take(Close(id="z", campaign="wmt.fr-en", at=LATER))


def test_a_look_shows_rate_age_and_the_leaderboard(running: Running) -> None:
    watched, newest = following(running), crowd(100)[-1].at
    first = watched.read_frame(at=newest + timedelta(seconds=5))
    assert (first.rate, first.age) == (0.0, 5.0)
    assert first.leaderboard == running.stream.campaign("wmt.fr-en").leaderboard()
    running.take(*crowd(140)[100:])
    second = watched.read_frame(at=newest + timedelta(seconds=15))
    assert second.rate == 4.0  # 40 judgments in 10 seconds
    assert second.leaderboard.judgments == 140


def test_the_rate_is_of_the_last_while(running: Running) -> None:
    watched, newest = following(running), crowd(100)[-1].at
    watched.read_frame(at=newest)
    running.take(*crowd(140)[100:])
    assert watched.read_frame(at=newest + timedelta(seconds=10)).rate == 4.0
    assert watched.read_frame(at=newest + timedelta(seconds=41)).rate == 0.0


def test_movement_is_since_the_watch_began(running: Running) -> None:
    watched = following(running)
    before = {row.system: row.rank for row in watched.read_frame(at=LATER).leaderboard.rows}
    last = next(system for system, rank in before.items() if rank == 8)
    running.take(
        *(judgment(1000 + k, campaign="wmt.fr-en", systems=(last, "system-0"), ranks=(1, 2)) for k in range(200))
    )
    frame = watched.read_frame(at=LATER)
    assert frame.moved == {row.system: before[row.system] - row.rank for row in frame.leaderboard.rows}
    assert frame.moved[last] > 0 > min(frame.moved.values())


def test_the_state_is_read_again_only_when_it_has_changed(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = following(running)
    first = watched.read_frame(at=LATER)
    monkeypatch.setattr(type(running.store), "read", lambda *_: pytest.fail("read again"))
    assert watched.read_frame(at=LATER).leaderboard == first.leaderboard


def test_without_a_terminal_every_change_is_a_line_and_the_end_is_the_close(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: Iterator[Any] = iter(
        [
            lambda: None,
            lambda: running.take(*crowd(120)[100:]),
            lambda: None,
            lambda: close(running),
        ]
    )
    monkeypatch.setattr("streams.cli.commands.watch.time.sleep", lambda _: next(steps)())
    result = CliRunner().invoke(watch.command, ["wmt.fr-en"])
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["view"]["judgments"], line["view"]["state"]) for line in lines] == [
        (100, "open"),
        (120, "open"),
        (120, "closed"),
    ]
    assert lines[1]["leaderboard"]["rows"][0]["system"] == "system-0"


@pytest.mark.usefixtures("running")
def test_an_interrupt_ends_it_cleanly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("streams.cli.commands.watch.time.sleep", interrupted)
    result = CliRunner().invoke(watch.command, ["wmt.fr-en"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == 1


def test_a_store_that_goes_away_is_waited_for(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("Redis does not answer")

    waits = 0

    def wait(_: float) -> None:
        nonlocal waits
        waits += 1
        if waits == 1:
            monkeypatch.setattr(running.store, "read_head", away, raising=False)
        elif waits == 3:
            monkeypatch.undo()
            close(running)

    monkeypatch.setattr("streams.cli.commands.watch.time.sleep", wait)
    looks = []
    for look in frames(following(running), interval=1):
        looks.append(look)
        if waits == 3:  # the patches are undone, and with them the clock
            monkeypatch.setattr("streams.cli.commands.watch.time.sleep", lambda _: None)
    kinds = [type(look) for look in looks]
    assert kinds == [Frame, StoreUnavailable, StoreUnavailable, Frame]


def test_a_store_that_is_away_from_the_start_is_an_error(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("Redis does not answer")

    monkeypatch.setattr(running.store, "read_head", away, raising=False)
    result = CliRunner().invoke(watch.command, ["wmt.fr-en"])
    assert isinstance(result.exception, StoreUnavailable)


@pytest.mark.usefixtures("running")
def test_a_campaign_that_is_not_there_is_answered_with_the_one_that_was_meant() -> None:
    result = CliRunner().invoke(watch.command, ["wmt.fr-ne"])
    assert isinstance(result.exception, JudgestreamError)
    assert "did you mean 'wmt.fr-en'?" in str(result.exception)


def drawn(frame: Frame, *, height: int | None, **options: Any) -> list[str]:
    console = Console(file=StringIO(), width=100)
    console.print(screen(frame, console, height=height, **options))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_the_screen_fits_the_terminal(running: Running) -> None:
    frame = following(running).read_frame(at=LATER)
    whole = drawn(frame, height=40)
    assert sum("±" in line for line in whole) == 9
    cut = drawn(frame, height=12)
    assert len(cut) <= 12
    assert cut[-1].startswith("... ")
    assert int(cut[-1].split()[1]) + sum("●" in line for line in cut) == 8


def test_the_screen_shows_trouble_and_movement(running: Running) -> None:
    frame = following(running).read_frame(at=LATER)
    shown = drawn(frame, height=40, trouble="Redis does not answer; trying again")
    assert any("trying again" in line for line in shown)
    assert sum(line.endswith("=") for line in shown) == 8


@pytest.mark.parametrize("height", range(9, 24))
def test_a_board_with_islands_and_cautions_fits_the_terminal(height: int) -> None:
    board = settled_board(islands=True, cautions=(CAUTION,))
    frame = Frame(
        at=LATER,
        rate=1.0,
        age=3.0,
        moved=dict.fromkeys((row.system for row in board.rows), 0),
        view=campaign_view(Campaign("c")),
        leaderboard=board,
    )
    console = Console(file=StringIO(), width=80, height=height)
    assert len(console.render_lines(screen(frame, console, height=height), pad=False)) <= height


def test_one_category_can_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running(monkeypatch)
    log = [
        msgspec.structs.replace(each, tags={"language": "de"} if k % 2 else None) for k, each in enumerate(crowd(60))
    ]
    running.take(opened(boards=["language"]), *log)
    close(running)
    result = CliRunner().invoke(watch.command, ["wmt.fr-en", "--by", "language", "--value", "de"])
    assert result.exit_code == 0, result.output
    board = json.loads(result.stdout.splitlines()[-1])["leaderboard"]
    assert (board["judgments"], board["category"]["value"]) == (30, "de")
    frame = CampaignWatch(
        cast("RedisStore", running.store), Settings(), "wmt.fr-en", category=CategoryChoice("language", "de")
    ).read_frame(at=LATER)
    text = StringIO()
    console = Console(file=text, width=100)
    console.print(screen(frame, console))
    assert "wmt.fr-en, language: de  trueskill, 30 judgments" in text.getvalue()
    assert "--by needs --value" in CliRunner().invoke(watch.command, ["wmt.fr-en", "--by", "language"]).stderr
