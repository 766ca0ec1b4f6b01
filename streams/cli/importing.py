"""Import the modules of a command without a search for garbage in between."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def without_collecting() -> Iterator[None]:
    """Import modules without looking for garbage. What they contain stays, so looking for it only takes time.

    >>> with without_collecting():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
