"""Judgment logs as people have them, read into judgments."""

from streams.formats.base import Batch, Entry, Format, RowError, Summary
from streams.formats.input.compression import SUFFIXES, compressing
from streams.formats.input.sources import STDIN
from streams.formats.reading import OnError, Reading
from streams.formats.registry import FORMATS, format_named, read, recognise

__all__ = [
    "FORMATS",
    "STDIN",
    "SUFFIXES",
    "Batch",
    "Entry",
    "Format",
    "OnError",
    "Reading",
    "RowError",
    "Summary",
    "compressing",
    "format_named",
    "read",
    "recognise",
]
