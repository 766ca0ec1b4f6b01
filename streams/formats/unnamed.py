"""Count the judgments in JSON Lines that name no judge or no segment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streams.formats.names import ANONYMOUS, UNSPECIFIED

if TYPE_CHECKING:
    from streams.formats.base import ImportRun

_ANONYMOUS = re.compile(rf'"judge"\s*:\s*"{ANONYMOUS}"'.encode())
_UNSPECIFIED = re.compile(rf'"segment"\s*:\s*"{UNSPECIFIED}"'.encode())


def count_unnamed(block: bytes, run: ImportRun) -> None:
    """Count them in valid lines that are not nested."""
    run.summary.anonymous += len(_ANONYMOUS.findall(block)) if ANONYMOUS.encode() in block else 0
    run.summary.unspecified += len(_UNSPECIFIED.findall(block)) if UNSPECIFIED.encode() in block else 0
