"""The one error of a soak."""

from __future__ import annotations


class SoakError(AssertionError):
    """Something that the product promises did not hold."""
