"""The lab's hot loops, compiled; importing a module of them loads numba, so a model does so when it is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., object]")


def jit(function: Function) -> Function:
    """Compile a kernel; it may call those of its own module only, since numba's cache looks at no other file."""
    from numba import njit

    return cast("Function", njit(cache=True, nogil=True)(function))
