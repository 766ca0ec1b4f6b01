"""Packages of kernels: each module is one source that runs as it is or compiled."""

from __future__ import annotations

import re
import sys
from functools import cached_property, partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from streams.compiler.machine_code import is_stored, load
from streams.settings import checks_bounds

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function")

# Number of updates in a batch from which loading numba pays.
WORTH_LOADING = 200_000
_IMPORT = re.compile(r"^from (streams\.[\w.]+) import", re.MULTILINE)
_loaded: set[str] = set()  # modules that were compiled in this process
_loading = RLock()  # another thread must not get a module that is half loaded


def jit(function: Function) -> Function:
    """Mark a kernel. `Kernels.compiled` puts numba's decorator in this one's place."""
    return function


def inlined(function: Function) -> Function:
    """Mark a kernel that is compiled into each kernel that calls it. A call with arrays takes longer than short loops.

    `Kernels.compiled` puts numba's decorator in this one's place.
    """
    return function


def is_loaded() -> bool:
    """Return whether any kernel has been compiled in this process."""
    return bool(_loaded)


class Kernels:
    """The kernels of one package.

    A module of the package holds functions under `@jit` and may import from its neighbours. `plain("pairs")` returns
    the module as it is: loading it is free, and an update takes some microseconds. `compiled("pairs")` returns the
    same functions compiled: loading numba takes a second, and an update some ten nanoseconds.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._folder = Path(import_module(package).__path__[0])
        self._parent = f"{package}.compiled_"
        self._neighbour = re.compile(rf"^from {re.escape(package)}\.(\w+) import", re.MULTILINE)
        self._compiled: dict[str, Any] = {}

    def plain(self, name: str) -> Any:
        """Return a module of kernels as it is."""
        return import_module(f"{self._package}.{name}")

    def compiled(self, name: str) -> Any:
        """Return a module of kernels compiled. After the first time it is read from disk."""
        if name not in self._compiled:
            with _loading:
                self._compiled[name] = self._load_stored(name) or self.by_numba(name)
                _loaded.add(f"{self._package}.{name}")
        return self._compiled[name]

    def _load_stored(self, name: str) -> Any:
        """Return a module of machine code, or None if the module has none or bounds are checked.

        Machine code that is loaded without numba can't raise an error, so it can't check bounds.
        """
        if checks_bounds() or not hasattr(self.plain(name), "SIGNATURES"):
            return None
        return load(name, digest=self._digest, folder=self._folder, compile_module=partial(self.by_numba, name))

    def are_stored(self, *names: str) -> bool:
        """Return whether these modules can be loaded from disk at once, so that nothing has to be compiled."""
        folder, digest = self._folder, self._digest
        return not checks_bounds() and all(is_stored(name, digest=digest, folder=folder) for name in names)

    def suited(self, name: str, updates: int) -> Any:
        """Return the compiled module if kernels are loaded or this many updates repay it, else the plain one."""
        return self.compiled(name) if _loaded or updates >= WORTH_LOADING else self.plain(name)

    def by_numba(self, name: str) -> ModuleType:
        """Return a module of kernels compiled by numba."""
        full = f"{self._parent}.{name}"
        with _loading:
            if full not in sys.modules:
                self._load(name, full)
        return sys.modules[full]

    def _load(self, name: str, full: str) -> None:
        """Execute the source of a module again, with its neighbours compiled and numba's decorator for `jit`."""
        file = self._folder.joinpath(f"{name}.py")
        source = file.read_text()
        for neighbour in self._neighbour.findall(source):
            self.by_numba(neighbour)
        parent = sys.modules.setdefault(self._parent, ModuleType(self._parent))
        parent.__dict__.update(__path__=[], jit=self._compiler(), inlined=self._compiler(forceinline=True))
        source = self._neighbour.sub(rf"from {self._parent}.\1 import", source)
        source = source.replace(f"from {__package__} import ", f"from {self._parent} import ")
        module = ModuleType(full)
        module.__file__ = str(file)
        sys.modules[full] = module
        try:
            exec(compile(source, str(file), "exec"), module.__dict__)  # noqa: S102 - our own source
        except BaseException:
            del sys.modules[full]
            raise

    def _compiler(self, *, forceinline: bool = False) -> Callable[[Function], Function]:
        """Return numba's decorator. A digest of all sources of the package is in the name of each function.

        Numba's cache checks a function's own file only. It would not notice a change in a neighbour that it calls, nor
        whether bounds are checked.
        """
        from numba import njit

        suffix = f"_{self._digest}" + ("_checked" if checks_bounds() else "")

        def compile_(function: Any) -> Any:
            function.__qualname__ += suffix
            return njit(cache=True, nogil=True, forceinline=forceinline)(function)

        return compile_

    @cached_property
    def _digest(self) -> str:
        """A digest of the package's sources, and of the modules outside it whose constants they import."""
        sources = {file.name: file.read_text() for file in self._folder.iterdir() if file.name.endswith(".py")}
        imported = {module for source in sources.values() for module in _IMPORT.findall(source)}
        for module in imported:
            if not module.startswith((self._package, __package__)):
                sources[module] = Path(import_module(module).__file__ or "").read_text()
        return sha256(repr(sorted(sources.items())).encode()).hexdigest()[:12]
