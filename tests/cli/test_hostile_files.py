"""Whatever a file contains, commands print no control characters, no invisible characters and no id of a judge."""

from __future__ import annotations

import io
import json
import random
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from streams.cli.main import main
from tests.builders import crowd_log
from tests.formats.samples import BATTLES, SAMPLES, WEBHOOK, parquet

pytestmark = pytest.mark.long

SECRET = "secret-judge"
HOSTILE = {
    "escape sequence": "\x1b[31m\x07",
    "control sequence of eight bits": "\x9b31m",
    "reversed text": "\u202eevil\u2066",
    "null": "\0",
    "half a character": "\ud800",
    "line feeds": "\r\n\u2028\x0b",
    "a million characters": "x" * 1_000_000,
    "a judge": f"{SECRET}\x1b[0m{'x' * 300}",  # stands in the place of a judge only
}
TOKEN = re.compile(rb"[A-Za-z0-9_.:-]+")
JUDGES = re.compile(rb"\bjudge\d\b|\bj\d?\b(?=\"|,)|e@example.org")


def as_bytes(name: str, text: str, *, raw: bool) -> bytes:
    """Return a text as it stands in a file of this format."""
    if raw or name in ("uniform", "wmt-rankings", "wmt-pairs"):
        return text.encode(errors="surrogatepass")
    if name == "appraise":
        return "".join(f"&#{ord(each)};" if not each.isprintable() else each for each in text).encode()
    return json.dumps(text)[1:-1].encode()


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, str]:
    """Run a command in this process, and return what it printed."""
    monkeypatch.setattr(sys, "argv", ["judgestream", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, 1, 2)
    out = capsys.readouterr()
    return out.out, out.err


def assert_harmless(text: str) -> None:
    bad = {each for each in text if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")} - {"\n"}
    assert not bad, ascii(bad)


def damaged(name: str, data: bytes, text: str, chance: random.Random) -> bytes:
    """Put a text in the place of one word of a sample."""
    if text.startswith(SECRET):
        hostile = as_bytes(name, text, raw=chance.random() < 0.3)
        return JUDGES.sub(lambda _: hostile, data)
    data = JUDGES.sub(SECRET.encode(), data)
    found = chance.choice([token for token in TOKEN.finditer(data) if not token[0].startswith(SECRET.encode()[:6])])
    return data[: found.start()] + as_bytes(name, text, raw=chance.random() < 0.3) + data[found.end() :]


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "parquet"])
def test_an_error_about_a_hostile_file_is_harmless(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(f"{name} {kind}")
    samples = [SAMPLES[name].data, *{"arena": [BATTLES], "label-studio": [WEBHOOK]}.get(name, [])]
    file = tmp_path / "log"
    for case in range(12):
        file.write_bytes(damaged(name, chance.choice(samples), HOSTILE[kind], chance))
        how = chance.choice((("--on-error", "report"), ("--on-error", "stop"), ("--on-error", "skip")))
        chosen = ("--from", name) if chance.random() < 0.5 else ()
        out, err = run(monkeypatch, capsys, "convert", file, tmp_path / f"{case}.jsonl", *how, *chosen)
        assert_harmless(out + err)
        assert SECRET not in out + err
        assert len(out + err) < 3000


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_error_about_a_hostile_parquet_file_is_harmless(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = HOSTILE[kind].replace("\ud800", "\ufdd0")  # Arrow refuses half a character
    battle: dict[str, Any] = {"model_a": "a", "model_b": "b", "winner": "tie", "judge": SECRET, "tstamp": "1"}
    places = ["judge"] if text.startswith(SECRET) else list(battle)
    rows: list[dict[str, Any]] = [{**battle, name: text} for name in places]
    rows += [battle | {"judge": [text]}, {name + text[-9:]: value for name, value in battle.items()}]
    for number, row in enumerate(rows):
        (tmp_path / "log").write_bytes(parquet([row]))
        out, err = run(monkeypatch, capsys, "convert", tmp_path / "log", tmp_path / f"{number}.jsonl")
        assert_harmless(out + err)
        assert SECRET not in out + err
        assert len(out + err) < 3000


@pytest.mark.parametrize("data", [bytes(range(256)), b"\x7fELF\x02\x01\x01\0", b"\x1f\x8b" + bytes(50), b"\xff" * 99])
def test_a_binary_file_is_described_by_numbers(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "\x1b[31mlog"
    file.write_bytes(data)
    out, err = run(monkeypatch, capsys, "rank", file)
    assert_harmless(out + err)
    assert "�" not in err
    assert err.startswith("Error: ")


@pytest.mark.parametrize("command", ["rank", "clusters", "head-to-head", "agreement", "describe", "baseline", "audit"])
def test_hostile_names_that_are_valid_are_printed_escaped(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "log.jsonl"
    with io.StringIO() as text:
        for each in crowd_log(60, systems=3):
            systems = [f"{name}\x1b[31m\u202e\x9b" for name in each.systems]
            row: dict[str, Any] = {
                "id": each.id,
                "campaign": each.campaign,
                "segment": f"{each.segment}\x07",
                "systems": systems,
            }
            row |= {"judge": f"{each.judge}\x1b]0;", "ranks": each.ranks, "at": each.at.isoformat()}
            text.write(json.dumps(row) + "\n")
        file.write_text(text.getvalue())
    out, err = run(monkeypatch, capsys, command, file)
    assert_harmless(out + err)
    assert "Traceback" not in err
    assert "campaign-0" in out or "system" in out


def test_a_wrong_choice_is_answered_without_raw_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "log.jsonl"
    line = '{"id":"%d","campaign":"c","segment":"s","judge":"%s","systems":["a\\u001b[1m","b"],"ranks":[1,2],'
    file.write_text("".join(line % (n, SECRET) + '"at":"2024-01-01T00:00:00Z"}\n' for n in range(3)))
    for wrong in ("judge=secret-judg", "system=a\x1b[1", "system=zzz", "segment=\x1b"):
        out, err = run(monkeypatch, capsys, "rank", file, "--only", wrong)
        assert_harmless(out + err)
        assert SECRET not in out + err
        assert "only:" in err
