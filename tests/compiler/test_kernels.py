"""Compiled kernels belong to the sources that they were made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams.compiler import Kernels
from streams.wire import limits


def test_a_change_of_an_imported_constant_makes_other_compiled_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = "streams.wire.scanner.kernels"
    before = Kernels(package)._digest
    assert Kernels(package)._digest == before
    changed = tmp_path / "limits.py"
    changed.write_text(Path(limits.__file__).read_text().replace("MAX_RANKED = 100", "MAX_RANKED = 101"))
    monkeypatch.setattr(limits, "__file__", str(changed))
    assert Kernels(package)._digest != before
