"""The hot loops: plain functions on arrays, run as they are or compiled by numba to the same bits.

A module here holds functions under `@jit` and imports others from its neighbours. `plain("pairs")` gives a module as
it stands: it costs nothing to load and some microseconds an update. `compiled("pairs")` gives the same functions
compiled: numba takes a second to load, and an update some ten nanoseconds. There is one source of both.
"""

from __future__ import annotations

import re
import sys
from functools import cache, partial
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from streams.kernels.machine_code import load

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function")

_COMPILED = f"{__name__}.compiled_"
_NEIGHBOUR = re.compile(rf"^from {re.escape(__name__)}\.(\w+) import", re.MULTILINE)
# So many updates repay the loading of numba.
WORTH_LOADING = 200_000
_compiled: dict[str, Any] = {}


def jit(function: Function) -> Function:
    """Mark a kernel; `compiled` puts numba's decorator in this one's place."""
    return function


def plain(name: str) -> Any:
    """Give a module of kernels as it stands."""
    return import_module(f"{__name__}.{name}")


def compiled(name: str) -> Any:
    """Give a module of kernels compiled; after the first time from what was kept on disk."""
    if name not in _compiled:
        kept = None
        if hasattr(plain(name), "SIGNATURES"):
            folder = files(__name__)
            assert isinstance(folder, Path)
            kept = load(name, digest=_digest(), folder=folder, rest=partial(by_numba, name))
        _compiled[name] = kept or by_numba(name)
    return _compiled[name]


def by_numba(name: str) -> ModuleType:
    """Give a module of kernels compiled by numba, which is loaded for it."""
    full = f"{_COMPILED}.{name}"
    if full not in sys.modules:
        _load(name, full)
    return sys.modules[full]


def suited(name: str, updates: int) -> Any:
    """Choose for a batch: compiled where numba is loaded already or so many updates repay its loading."""
    return compiled(name) if is_loaded() or updates >= WORTH_LOADING else plain(name)


def is_loaded() -> bool:
    """Say whether kernels have been compiled in this process."""
    return bool(_compiled)


def _load(name: str, full: str) -> None:
    """Run a module's source once more, with its neighbours compiled and numba's decorator for `jit`."""
    file = files(__name__).joinpath(f"{name}.py")
    source = file.read_text()
    for neighbour in _NEIGHBOUR.findall(source):
        by_numba(neighbour)
    parent = sys.modules.setdefault(_COMPILED, ModuleType(_COMPILED))
    parent.__dict__.update(__path__=[], jit=_compiler())
    source = _NEIGHBOUR.sub(rf"from {_COMPILED}.\1 import", source)
    source = source.replace(f"from {__name__} import jit", f"from {_COMPILED} import jit")
    module = ModuleType(full)
    module.__file__ = str(file)
    sys.modules[full] = module
    try:
        exec(compile(source, str(file), "exec"), module.__dict__)  # noqa: S102 - our own source, altered as said
    except BaseException:
        del sys.modules[full]
        raise


def _compiler() -> Callable[[Function], Function]:
    """Give numba's decorator, with the kernels' sources in each function's name.

    Numba's cache looks at a function's own file only, and would not see that a neighbour which it calls has changed.
    """
    from numba import njit

    def compile_(function: Any) -> Any:
        function.__qualname__ += f"_{_digest()}"
        return njit(cache=True, nogil=True)(function)

    return compile_


@cache
def _digest() -> str:
    sources = sorted((file.name, file.read_text()) for file in files(__name__).iterdir() if file.name.endswith(".py"))
    return sha256(repr(sources).encode()).hexdigest()[:12]
