"""The public logs are the ones that CONTRIBUTING.md lists, byte for byte."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import pytest

from tests.data import real_log

LISTED = re.findall(r"^\| `(\S+)` \| .* \| `([0-9a-f]{64})` \|$", Path("CONTRIBUTING.md").read_text(), re.MULTILINE)


@pytest.mark.data
@pytest.mark.parametrize(("name", "checksum"), LISTED)
def test_a_public_log_has_the_listed_checksum(name: str, checksum: str) -> None:
    content = real_log(name).read_bytes()
    if name.endswith(".gz"):
        content = gzip.decompress(content)
    assert hashlib.sha256(content).hexdigest() == checksum


def test_there_are_listed_logs() -> None:
    assert {"wmt13_fr-en_rank.csv.gz", "wmt15_rank.csv.gz", "raw/llmfao.csv.gz"} <= {name for name, _ in LISTED}
