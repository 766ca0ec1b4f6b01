"""The hot loops of the core: functions on arrays. Plain and compiled, they give the same bits."""

from streams.compiler import Kernels

_kernels = Kernels(__name__)
plain, compiled, suited, by_numba = _kernels.plain, _kernels.compiled, _kernels.suited, _kernels.by_numba
