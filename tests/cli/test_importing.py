"""The modules of a command are imported without a search for garbage in between, which is on again afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from streams.cli.importing import without_collecting

SAMPLE = Path(__file__).parents[2] / "samples" / "arena.csv"
WATCHED = """
import gc, sys

class Watch:
    def find_spec(self, name, path, target=None):
        print(name, gc.isenabled(), file=sys.stderr)

from streams.cli.main import cli
sys.meta_path.insert(0, Watch())
cli(["rank", sys.argv[1]], standalone_mode=False)
print("end", gc.isenabled(), file=sys.stderr)
"""


def test_a_ranking_imports_its_large_modules_without_collecting() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(SAMPLE)], capture_output=True, text=True, check=True, timeout=120
    )
    is_on = dict(line.split() for line in done.stderr.splitlines())
    for name in ("streams.formats", "streams.offline.rating", "streams.cli.render", "rich.console"):
        assert is_on[name] == "False", name
    assert is_on["end"] == "True"


def test_an_import_that_fails_leaves_the_collection_on() -> None:
    with pytest.raises(ImportError), without_collecting():
        raise ImportError("no such module")
    assert gc.isenabled()
