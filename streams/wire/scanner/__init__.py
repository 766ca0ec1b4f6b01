"""Bytes to columns: `Scanner.scan` returns the judgments of whole lines as columns, or None.

No other package knows how it works. Whatever it returns None for is decoded by `streams.wire.decoding`.
"""

from streams.wire.scanner.columns import JudgmentColumns
from streams.wire.scanner.name_table import NameTable
from streams.wire.scanner.recent_ids import ScannedIds
from streams.wire.scanner.scanner import Scanner

__all__ = ["JudgmentColumns", "NameTable", "ScannedIds", "Scanner"]
