"""The real logs that tests of rankings read, once a session."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from streams.core.ranking import PairCounts
from streams.formats import read

DATA = Path(os.environ.get("JUDGESTREAM_DATA", "../shared/data"))

# As the log names the systems of WMT13 French-English, in the official order.
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
    """Find a real log, or skip."""
    if not (DATA / name).exists():
        pytest.skip(f"{DATA / name} is not here")
    return DATA / name


@cache
def wmt13_counts() -> PairCounts:
    """Count the outcomes of WMT13 French-English."""
    return PairCounts.of(entry.judgment for entry in read(real_log("wmt13_fr-en_rank.csv.gz")))
