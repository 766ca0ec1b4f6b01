"""Random generators of experiments: one per key, so that no draw depends on earlier ones."""

from __future__ import annotations

from zlib import crc32

import numpy as np


def random_generator(*key: int | str) -> np.random.Generator:
    """Return the random generator of a key. Different keys have independent generators.

    >>> random_generator(1, "split").integers(100) == random_generator(1, "split").integers(100)
    np.True_
    """
    return np.random.default_rng([crc32(part.encode()) if isinstance(part, str) else part for part in key])
