"""The compiled loops of the scanner: they read bytes and fill arrays."""

from streams.compiler import Kernels

_kernels = Kernels(__name__)
plain, compiled, by_numba = _kernels.plain, _kernels.compiled, _kernels.by_numba
FOR_BOTH, FOR_LINES, FOR_TABLES = ("hash_tables", "ids"), ("lines",), ("cells", "rows", "times")


def are_stored(*, for_lines: bool) -> bool:
    """Return whether the kernels for JSON Lines, or for tables, can be loaded from disk and need not be compiled."""
    return _kernels.are_stored(*FOR_BOTH, *(FOR_LINES if for_lines else FOR_TABLES))
