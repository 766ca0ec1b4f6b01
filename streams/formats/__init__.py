"""Import judgment logs: every supported file format is read into judgments."""

from streams.formats.base import Entry, EntryBatch, Format, RowError, Summary, UnknownFormat
from streams.formats.input.compression import SUFFIXES, compressing
from streams.formats.input.parts import describe_log, list_parts
from streams.formats.input.sources import STDIN
from streams.formats.reading import OnError, Reading
from streams.formats.registry import FORMATS, find_format, read, recognise
from streams.formats.selection import LogSelection

__all__ = [
    "FORMATS",
    "STDIN",
    "SUFFIXES",
    "Entry",
    "EntryBatch",
    "Format",
    "LogSelection",
    "OnError",
    "Reading",
    "RowError",
    "Summary",
    "UnknownFormat",
    "compressing",
    "describe_log",
    "find_format",
    "list_parts",
    "read",
    "recognise",
]
