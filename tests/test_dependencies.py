"""The ranges of the dependencies leave out releases that lose data, and contain what is pinned and tested."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RANGES = {str(canonicalize_name(found.name)): found.specifier for found in map(Requirement, PROJECT["dependencies"])}
PINNED = dict(
    line.partition(";")[0].strip().split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if line
)


@pytest.mark.parametrize("version", ["0.13.0", "0.13.1", "0.13.2"])
def test_a_faust_that_fails_at_every_rebalance_is_not_installed(version: str) -> None:
    assert version not in RANGES["faust-streaming"]


@pytest.mark.parametrize("name", sorted(RANGES))
def test_the_pinned_release_is_in_the_range(name: str) -> None:
    assert PINNED[name] in RANGES[name]


@pytest.mark.parametrize("name", ["aiokafka", "faust-streaming", "mode-streaming", "redis"])
def test_a_client_of_a_server_is_not_older_than_the_tested_series(name: str) -> None:
    series = PINNED[name].rsplit(".", 1)[0]
    before = f"{series}rc1"
    assert not RANGES[name].contains(before, prereleases=True)
