"""Compiled loops: a kernel is a plain function on arrays, and numba compiles it to the same bits when that pays."""

from streams.compiler.kernels import WORTH_LOADING, Kernels, inlined, is_loaded, jit

__all__ = ["WORTH_LOADING", "Kernels", "inlined", "is_loaded", "jit"]
