"""A long file is read in a thread, as columns. What a user sees is that of a short one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from streams.cli.log_options import SHORT_BYTES, LogFile
from streams.cli.main import cli
from streams.wire.scanner import kernels
from streams.wire.scanner.kernels import FOR_BOTH, FOR_LINES, FOR_TABLES

if TYPE_CHECKING:
    from pathlib import Path

ROWS = "".join(f"p{k},a{k % 3},b{k % 4},{'model_a' if k % 5 else 'tie'},j{k % 7}\n" for k in range(200))
FILES = {
    "good": f"prompt_id,model_a,model_b,winner,judge\n{ROWS}",
    "bad first row": f"prompt_id,model_a,model_b,winner,judge\np,a1,a1,tie,j\n{ROWS}",
    "bad last row": f"prompt_id,model_a,model_b,winner,judge\n{ROWS}p,a1,b1,nobody,j\n",
    "no judgment": "prompt_id,model_a,model_b,winner,judge\n",
    "unknown columns": f"where,left_one,right_one,preferred,who\n{ROWS}",
}


@pytest.mark.parametrize("content", FILES.values(), ids=list(FILES))
@pytest.mark.parametrize("options", [(), ("--on-error", "skip"), ("--campaign", "other")], ids=str)
def test_a_long_file_has_the_same_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, options: tuple[str, ...]
) -> None:
    file = tmp_path / "log.csv"
    file.write_text(content)
    arguments = ["rank", str(file), "--json", *options]
    short = CliRunner().invoke(cli, arguments)
    monkeypatch.setattr(LogFile, "is_long", property(lambda _: True))
    long = CliRunner().invoke(cli, arguments)
    assert (long.exit_code, long.stdout, long.stderr) == (short.exit_code, short.stdout, short.stderr)
    assert str(long.exception) == str(short.exception)


@pytest.mark.parametrize(
    ("name", "own", "other"),
    [
        ("log.csv", FOR_TABLES, FOR_LINES),
        ("log.parquet", FOR_TABLES, FOR_LINES),
        ("log.jsonl.gz", FOR_LINES, FOR_TABLES),
    ],
)
def test_a_file_of_medium_size_needs_only_the_kernels_of_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, own: tuple[str, ...], other: tuple[str, ...]
) -> None:
    file = tmp_path / name
    file.write_bytes(bytes(SHORT_BYTES + 1))
    for kind, is_long in ((own, True), (other, False)):
        stored = {*FOR_BOTH, *kind}
        monkeypatch.setattr(kernels._kernels, "are_stored", lambda *names, stored=stored: stored >= {*names})
        assert LogFile(file).is_long == is_long


def test_a_user_at_a_terminal_is_told_once_that_kernels_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "log.csv"
    file.write_text(FILES["good"])
    monkeypatch.setattr("streams.cli.log_options.LONG_BYTES", 0)
    monkeypatch.setattr("streams.cli.log_options.SHORT_BYTES", 0)
    monkeypatch.setattr(kernels._kernels, "are_stored", lambda *_: False)
    for is_terminal in (True, False):
        monkeypatch.setattr("sys.stderr.isatty", lambda answer=is_terminal: answer)
        log = LogFile(file)
        log.begin()
        assert sum(map(len, log.judgments(columns=True))) == 200
        assert capsys.readouterr().err.count("Compiling") == is_terminal
