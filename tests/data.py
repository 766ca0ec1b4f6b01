"""The public logs for the tests that carry the marker `data`. Without the folder of the logs, these are deselected."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from benchmarks.data import DATA, find_log
from streams.core.ranking import PairCounts
from streams.formats import read

# The systems of WMT13 French-English as the log names them, in the official order.
WMT13 = (
    "uedin-heafield-unconstrained.2755",
    "uedin-wmt13.2838",
    "online-B",
    "LIMSI-Ncode-SOUL-primary.2585",
    "KIT_primary.2658",
    "online-A",
    "MES-SimplifiedFrench-primary.2662",
    "DCU__primary.2828",
    "RWTH_primary.2595",
    "CMU_Tree-to-Tree.2893",
    "cu-zeman.2738",
    "JHU.2684",
    "Shef-wproa.2780",
)
WMT13_SYSTEMS = tuple(f"newstest2013.fr-en.{name}" for name in WMT13)


def real_log(name: str) -> Path:
    """Return the path of a public log. Skip the test if the folder is there without this file."""
    if not DATA.is_dir():
        pytest.fail(f"{DATA} is missing. A test that reads a public log needs the marker `data`.")
    try:
        return find_log(name)
    except FileNotFoundError as error:
        pytest.skip(str(error))


def paper_text(name: str) -> str:
    """Return the text of a paper, from `seeds` beside the folder of the logs. Skip the test if it is not there."""
    path = DATA.parent / "seeds" / name
    if not path.exists():
        pytest.skip(f"{path} is missing: the text of a paper")
    return path.read_text()


@cache
def wmt13_counts() -> PairCounts:
    """Count the outcomes of WMT13 French-English."""
    return PairCounts.of(entry.judgment for entry in read(real_log("wmt13_fr-en_rank.csv.gz")))
