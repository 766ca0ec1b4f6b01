"""Compiled kernels belong to the sources that they were made from."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from types import ModuleType

import pytest

from streams.compiler import Kernels
from streams.wire import limits
from tests.waiting import PATIENCE_SECONDS


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


def test_a_second_thread_waits_for_a_module_that_is_being_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = Event(), Event()
    (tmp_path / "slow_kernels").mkdir()
    (tmp_path / "slow_kernels" / "__init__.py").touch()
    (tmp_path / "slow_kernels" / "slow.py").write_text(
        f"from gate import *\nbegun.set()\nmay_end.wait({PATIENCE_SECONDS})\nresult = 1\n"
    )
    gate = ModuleType("gate")
    gate.__dict__.update(begun=begun, may_end=may_end)
    monkeypatch.setitem(sys.modules, "gate", gate)
    monkeypatch.syspath_prepend(tmp_path)
    kernels = Kernels("slow_kernels")
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(lambda: kernels.by_numba("slow").result)
        assert begun.wait(PATIENCE_SECONDS)
        second = threads.submit(lambda: kernels.by_numba("slow").result)
        wait([second], timeout=0.1)  # without the lock it has failed by now
        may_end.set()
        assert (first.result(), second.result()) == (1, 1)
