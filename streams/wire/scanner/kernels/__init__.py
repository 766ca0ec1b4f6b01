"""The compiled loops of the scanner: they read bytes and fill arrays."""

from streams.compiler import Kernels

_kernels = Kernels(__name__)
plain, compiled, by_numba = _kernels.plain, _kernels.compiled, _kernels.by_numba
