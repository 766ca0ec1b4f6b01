"""Where the public logs are: the one place that benchmarks, tests and the reproduction ask."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("JUDGESTREAM_DATA") or ROOT.parent / "shared" / "data").resolve()


def find_log(name: str) -> Path:
    """Return the path of a public log, or of a folder of published results."""
    path = DATA / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing. CONTRIBUTING.md says where to get it.")
    return path
