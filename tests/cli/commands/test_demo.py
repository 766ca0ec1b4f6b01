"""`judgestream demo`, without its pauses."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections import deque
from io import BytesIO, StringIO, TextIOWrapper
from itertools import zip_longest

import msgspec
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from streams.cli import demo_screen
from streams.cli.commands import demo
from streams.cli.render import LeaderboardTable
from streams.crowd import WMT13_FR_EN, Competition, Simulation
from streams.reports.score_axis import ScoreAxis
from streams.wire.events import Judgment, Leaderboard, MatchRequest, Row


class Output(msgspec.Struct, forbid_unknown_fields=True):
    campaigns: list[Leaderboard]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(demo.command, ["--seconds", "0", *arguments])


def figure(result: Result, name: str) -> str:
    found = re.search(rf"^{name} +(.+)$", result.stdout, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def default() -> Result:
    return run()


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_same_seed_prints_the_same_bytes_and_another_one_others(form: list[str]) -> None:
    first, again, other = (run("--budget", "200", "--seed", seed, *form) for seed in ("1", "1", "2"))
    assert first.stdout_bytes == again.stdout_bytes != other.stdout_bytes
    assert first.exit_code == 0


def test_the_pace_of_the_show_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    slow = CliRunner().invoke(demo.command, ["--budget", "200", "--seconds", "60"])
    assert slow.stdout_bytes == run("--budget", "200").stdout_bytes
    assert 55 < max(slept) < 60


def test_the_default_budget_finds_the_official_order_with_a_tenth_of_the_judgments(default: Result) -> None:
    assert float(figure(default, "Kendall tau with the official order")) >= 0.8
    assert figure(default, "clusters").endswith(", official 8")
    assert figure(default, "judgments") == "10,000, official 99,960"
    assert int(figure(default, "rank ranges that overlap the official").split(" of ")[0]) >= 11


def test_a_crowd_without_care_does_not_find_the_order() -> None:
    careless = run("--careless", "1.0", "--budget", "2000")
    assert abs(float(figure(careless, "Kendall tau with the official order"))) < 0.5


def test_elsewhere_than_on_a_terminal_no_escape_codes_are_printed(
    default: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for result in (default, run("--budget", "100")):
        assert "\x1b" not in result.stdout
        assert result.stderr == ""


def test_elsewhere_than_on_a_terminal_each_tenth_is_a_line_and_the_table_is_last(default: Result) -> None:
    tenths = re.findall(r"^ +([\d,]+) judgments +tau ", default.stdout, re.MULTILINE)
    assert tenths == [f"{1000 * tenth:,}" for tenth in range(1, 11)]
    _, table, figures = default.stdout.split("\n\n")
    assert next(line for line in table.splitlines() if "UEDIN-HEAFIELD" in line).split()[-2:] == ["1", "0.638"]
    *lines, flagged = figures.splitlines()[:6]
    assert (len(lines), flagged.split(maxsplit=2)[:2]) == (5, ["flagged", "judges"])
    assert "It takes about " not in figures, "all careless judges are found"


def test_if_careless_judges_are_not_found_the_reason_is_given() -> None:
    assert "It takes about " in run("--budget", "3000").stdout


def test_json_is_one_leaderboard_with_exactly_its_fields_and_exactly_the_budget() -> None:
    result = run("--json", "--budget", "150", "--judges", "7")
    (leaderboard,) = msgspec.json.decode(result.stdout, type=Output, strict=True).campaigns
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""
    assert (leaderboard.campaign, leaderboard.judgments, len(leaderboard.rows)) == ("wmt13.fr-en", 150, 13)
    fields = msgspec.json.decode(result.stdout)["campaigns"][0]
    assert tuple(fields) == Leaderboard.__struct_fields__
    assert all(tuple(row) == Row.__struct_fields__ for row in fields["rows"])


@pytest.mark.parametrize(
    "wrong",
    [
        ("--budget", "0"),
        ("--judges", "0"),
        ("--careless", "1.5"),
        ("--seconds", "-1"),
        ("--seed", "-1"),
        ("--budget", "x"),
    ],
)
def test_a_value_out_of_range_is_wrong_use_and_named(wrong: tuple[str, str]) -> None:
    result = run(*wrong)
    assert result.exit_code == 2
    assert f"Invalid value for '{wrong[0]}'" in result.stderr


def test_help_shows_an_example() -> None:
    assert "judgestream demo --careless 0.5" in run("--help").stdout


def test_an_interrupt_ends_with_a_sentence_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    result = run("--budget", "100")
    assert result.exit_code == 130
    assert result.stderr == "Stopped after 0 of 100 judgments.\n"


def test_the_module_imports_only_what_help_needs() -> None:
    code = (
        "import sys, streams.cli.commands.demo; print({'numpy', 'rich', 'msgspec', 'streams.crowd'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


# -- on a terminal -----------------------------------------------------------------------------------------


def on_terminal(*arguments: str, until: bytes = b"", then: bytes = b"") -> tuple[int, str]:
    """Run on a terminal of 80 x 24; when `until` has been shown, type `then`."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm-256color"}
        os.execv(
            sys.executable,
            [sys.executable, "-c", "from streams.cli.commands.demo import command; command()", *arguments],
        )
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
            if then and until in shown:
                os.write(terminal, then)
                then = b""
    except OSError:  # how a terminal says on Linux that nobody writes to it any more
        pass
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode(errors="replace")


def test_on_a_terminal_the_show_has_its_own_screen_and_the_result_stays() -> None:
    code, shown = on_terminal("--seconds", "0", "--budget", "100")
    during, after = shown.split("\x1b[?1049l")
    assert code == 0
    assert "\x1b[?1049h" in during
    assert "open match requests" in during
    assert "of 100 judgments" in during
    assert "Kendall tau with the official order" in after
    assert after.endswith("\r\n")


def test_ctrl_c_leaves_the_terminal_as_it_was() -> None:
    code, shown = on_terminal("--seconds", "600", until=b"open match requests", then=b"\x03")
    left = shown.rindex("\x1b[?1049l")
    assert code == 130
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back
    assert "Traceback" not in shown
    assert re.search(r"Stopped after [\d,]+ of 10,000 judgments\.", shown[left:])


def row(place: int, **fields: float | str | None) -> Row:
    values = {"system": f"system-{place}", "rank": place, "rank_low": place, "rank_high": place, "cluster": place}
    values |= {"line_above": "judges" if place > 1 else None}
    return msgspec.convert(values | {"score": -place / 10, "deviation": 0.02, "judgments": 9} | fields, type=Row)


def leaderboard(*rows: Row) -> Leaderboard:
    return Leaderboard(campaign="c", model="m", sequence=1, offset=0, judgments=9, rows=rows)


def table(board: Leaderboard, *, width: int = 80, axis: ScoreAxis | None = None, encoding: str = "utf-8") -> list[str]:
    file = TextIOWrapper(BytesIO(), encoding=encoding, errors="replace")
    Console(file=file, width=width).print(LeaderboardTable(leaderboard=board, width=width, axis=axis))
    file.seek(0)
    return file.read().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("clusters", [1, 4, 8, 13])
def test_every_frame_fits_the_terminal(width: int, height: int, clusters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(Competition.load(WMT13_FR_EN), judges=40, careless=0.2, budget=60, seed=1)
    latest: deque[tuple[Judgment | None, MatchRequest | None]] = deque(maxlen=demo_screen.LONGEST_FEED)
    for step in simulation.steps():
        latest.extend(zip_longest(step.answers, step.requests))
    board = leaderboard(
        *(
            msgspec.structs.replace(
                row,
                rank_low=10,
                rank_high=13,
                cluster=min(row.rank, clusters),
                line_above="judgments" if 1 < row.rank <= clusters else None,
            )
            for row in simulation.leaderboard().rows
        )
    )
    monkeypatch.setattr(simulation, "leaderboard", lambda: board)
    clock = demo_screen.DemoClock(seconds=0, budget=60)
    assert clock.is_frame_due(60)
    console = Console(file=StringIO(), width=width, height=height)
    lines = console.render_lines(demo_screen.draw_screen(simulation, console, clock, latest), pad=False)
    assert len(lines) <= height
    assert all(sum(segment.cell_length for segment in line) <= width for line in lines)
    text = ["".join(segment.text for segment in line) for line in lines]
    assert sum("SHEF-WPROA  " in line for line in text) >= 1
    assert not any(line.rstrip().endswith("…") for line in text)


# -- the table that other commands print too --------------------------------------------------------------


def test_a_rule_ends_each_cluster_and_is_dashed_unless_it_holds_for_other_judges() -> None:
    rows = row(1), row(2, cluster=1, line_above=None), row(3, cluster=2), row(4, cluster=3, line_above="judgments")
    rules = {"─" * 80: "solid", "╌" * 80: "dashed"}
    found = [rules.get(line) for line in table(leaderboard(*rows))]
    assert found == [None, "solid", None, None, "solid", None, "dashed", None]


def test_whiskers_reach_as_far_as_the_deviation_says() -> None:
    board = leaderboard(row(1, score=0.0, deviation=0.4), row(2, score=0.0, deviation=0.1))
    wide, narrow = table(board, width=200)[2::2]
    thick = [len(re.findall("[╸╺╼╾━●]", line)) for line in (wide, narrow)]
    assert thick[0] == pytest.approx(4 * thick[1], abs=3)
    assert wide.index("●") == narrow.index("●")


def test_a_score_off_the_axis_is_drawn_at_its_edge() -> None:
    above, below = table(leaderboard(row(1, score=9.0), row(2, score=-9.0)), axis=ScoreAxis(-1, 1))[2::2]
    assert above[-1] == "●"
    assert below.rstrip()[-1] != "●"
    assert "●" in below


@pytest.mark.parametrize("score", [0.0, 1500.0, -1500.0])
def test_any_score_without_deviation_can_be_drawn(score: float) -> None:
    assert "●" in table(leaderboard(row(1, score=score, deviation=0.0)))[2]


def test_where_the_encoding_knows_no_lines_the_whiskers_are_ascii() -> None:
    line = table(leaderboard(row(1, deviation=0.4)), encoding="ascii")[2]
    assert "=o=" in line.replace("==", "=")


@pytest.mark.parametrize("width", [30, 40, 50, 80, 200])
def test_the_table_keeps_to_its_width_and_cuts_long_names(width: int) -> None:
    lines = table(leaderboard(msgspec.structs.replace(row(1), system="x" * 150), row(2)), width=width)
    assert len(lines) == 5
    assert max(map(len, lines)) == width
    assert ("●" in lines[2]) == (width == 200)


def test_a_leaderboard_without_systems_is_a_heading() -> None:
    assert len(table(leaderboard())) == 2
