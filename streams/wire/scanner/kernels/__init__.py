"""The compiled loops of the scanner: they read bytes and fill arrays."""

from streams.compiler import Kernels

_kernels = Kernels(__name__)
plain, compiled, by_numba = _kernels.plain, _kernels.compiled, _kernels.by_numba
MODULES = ("cells", "digests", "hash_tables", "ids", "lines", "times")


def are_stored() -> bool:
    """Return whether all kernels can be loaded from disk at once, so that nothing has to be compiled."""
    return _kernels.are_stored(*MODULES)
