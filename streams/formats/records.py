"""Records with known names: rows of CSV or Parquet, or JSON objects. Arenas and platforms write such files."""

from __future__ import annotations

import ast
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats.base import Format
from streams.formats.input.documents import read_documents
from streams.formats.input.tables import Table
from streams.formats.names import ANONYMOUS, UNSPECIFIED, campaign_name, content_id, shorten_name
from streams.formats.rankings import make_judgments, parse_number, refuse_long_names, row_time
from streams.formats.validation import row_reader
from streams.wire.decoding import quote
from streams.wire.events import Judgment
from streams.wire.limits import MAX_TAGS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from streams.formats.base import EntryBatch, ImportRun
    from streams.formats.columns.wide import WideColumns
    from streams.formats.features import OutputColumns, OutputFeatures
    from streams.formats.input.head import FileHead
    from streams.formats.input.line_buffer import LineBuffer
    from streams.formats.input.sources import Source

    Record: TypeAlias = Mapping[str, object]

_Nested = TypeVar("_Nested")

_TRUTH_VALUES = ("True", "False")  # as pandas writes them
_LONGEST_LITERAL = 20_000  # characters of Python, whose parser needs a lot of memory
MAX_JUDGMENTS = 10_000  # of one record, for example of a conversation with many turns

# Fields whose values identify a person, and are not shown in messages.
PRIVATE = frozenset(
    ("judge", "judge_hash", "worker", "workerid", "annotator", "user", "user_id", "userid", "visitor_id", "id", "email")
)


@dataclass(frozen=True, kw_only=True)
class RecordLayout:
    """A layout of records. Names of fields are in lower case, whatever the file has."""

    name: str
    about: str
    needs: tuple[tuple[str, ...], ...]  # fields that every record has; one of these groups is enough
    columns: tuple[str, ...]  # fields that are read from Parquet, besides the needed ones; `a.b` is a part of a
    judge: Callable[[Record, int, ImportRun], list[Judgment]]
    unless: tuple[str, ...] = ()  # fields of another layout that has the needed ones too
    wide: WideColumns | None = None  # of tables that may be read as columns
    outputs: OutputColumns | None = None  # where the outputs are, and their features
    texts: Callable[[Record, Judgment], Mapping[str, object]] | None = None  # or the outputs of a judgment, by system
    suits: Callable[[Collection[str]], bool] | None = None  # what the fields of a file need, so that it can be read
    suffixes: tuple[str, ...] = ()  # of fields whose names a project chooses; one with the first suffix is enough

    def recognises(self, names: Collection[str]) -> bool:
        """Return whether records with these fields have this layout."""
        known = {name.lower() for name in names}
        if self.suffixes and any(name.endswith(self.suffixes[0]) for name in known):
            return True
        return any(known.issuperset(group) for group in self.needs) and not known.intersection(self.unless)

    def judge_row(self, row: Record, number: int, run: ImportRun) -> list[Judgment]:
        """Return the judgments of a record, and read the features of its outputs if they are wanted."""
        judgments = self.judge(row, number, run)
        if run.features is not None:
            run.features.observe(row, judgments, self.outputs)
            if self.texts is not None:
                for judgment in judgments:
                    run.features.observe_texts(row, judgment, self.texts(row, judgment))
        return judgments

    def has_column(self, name: str, features: OutputFeatures | None = None) -> bool:
        """Return whether a column is read from Parquet."""
        name = name.lower()
        if any(name in group for group in self.needs) or name in self.columns or name.endswith(self.suffixes or "\0"):
            return True
        return features is not None and self.outputs is not None and name in self.outputs.columns(features.names)

    def format(self) -> Format:
        """Return the layout as a format: CSV, JSON or JSON Lines."""
        return Format(self.name, self.about, self._in_head, self._batches)

    def _batches(self, source: Source, run: ImportRun) -> Iterator[EntryBatch]:
        if self.wide is None or not run.columns or source.head.lstrip()[:1] in (b"[", b"{"):
            return row_reader(self._read, self.judge_row)(source, run)
        from streams.formats.columns.table_reader import CsvBlocks, read_table  # which loads the scanner

        def choose(table: Table) -> dict[str, int]:
            return {name: place for name, place in table.columns.items() if self.has_column(name)}

        return read_table(CsvBlocks(source, self._table, choose), source, run, wide=self.wide, judge=self.judge)

    def _in_head(self, head: FileHead) -> bool:
        names = head.columns | head.keys  # a file has one of them
        return self.recognises(names) and (self.suits is None or self.suits(names))

    def _read(self, source: Source, _: ImportRun) -> Iterator[tuple[int, Record | RecordError]]:
        if source.head.lstrip()[:1] in (b"[", b"{"):
            for line, document in read_documents(source):
                if isinstance(document, RecordError):
                    yield line, document
                else:
                    yield line, {name.lower(): value for name, value in document.items()}
            return
        table = self._table(source)
        names = tuple(table.columns)
        for line, cells in table.rows():
            yield line, cells if isinstance(cells, RecordError) else dict(zip(names, cells, strict=True))

    def _table(self, source: Source | LineBuffer) -> Table:
        table = Table(source, required=(), kind=self.about)
        if not self.recognises(table.columns):
            missing = min(([name for name in group if name not in table.columns] for group in self.needs), key=len)
            raise FormatError(f"{source.name}:1: no column {', '.join(missing)}; this is not {self.about}")
        return table


def compare(
    run: ImportRun,
    number: int,
    systems: Sequence[str],
    ranks: Sequence[int],
    *,
    segment: str | None = None,
    judge: str | None = None,
    at: datetime | None = None,
    id: str | None = None,  # noqa: A002 - as in Judgment
    duration_ms: int | None = None,
    campaign: str | None = None,
    tags: Mapping[str, str | None] | None = None,
) -> list[Judgment]:
    """Return the judgment of a record that ranks systems. A system that meets itself says nothing: it is left out."""
    if len(systems) == 2 and systems[0] == systems[1]:
        run.leave_out("a system compared with itself")
        return []
    return make_judgments(
        run,
        number,
        [((system,), rank) for system, rank in zip(systems, ranks, strict=True)],
        campaign=campaign_name(run, in_file=campaign),
        segment=shorten_name(segment) if segment else UNSPECIFIED,
        judge=judge or ANONYMOUS,
        at=at,
        id=shorten_name(id) if id else None,
        duration_ms=duration_ms,
        tags=known_tags(tags),
    )


def assess(
    run: ImportRun,
    number: int,
    system: str,
    score: float,
    *,
    segment: str | None = None,
    judge: str | None = None,
    at: datetime | None = None,
    tags: Mapping[str, str | None] | None = None,
    key: str = "",
) -> Judgment:
    """Return the judgment of a record that scores one system. `key` tells several scores of one record apart."""
    segment, judge = shorten_name(segment) if segment else UNSPECIFIED, judge or ANONYMOUS
    campaign = campaign_name(run)
    refuse_long_names(systems=system, judge=judge)
    return Judgment(
        id=content_id(number, campaign, segment, judge, system, repr(score), key),
        campaign=campaign,
        segment=segment,
        judge=judge,
        systems=(system,),
        score=score,
        at=at or row_time(number),
        tags=known_tags(tags),
    )


def known_tags(tags: Mapping[str, str | None] | None) -> dict[str, str] | None:
    """Return the tags that have a value, shortened if they are too long for one."""
    found = {name: shorten_name(text) for name, text in (tags or {}).items() if text}
    return dict(list(found.items())[:MAX_TAGS]) if found else None


def required_text(row: Record, name: str) -> str:
    """Return a field that must be present, as text."""
    found = first_text(row, (name,))
    if not found:
        raise RecordError("missing_field", f"`{name}` is missing", field=name)
    return found[1]


def text_in(row: Record, *names: str) -> str | None:
    """Return the text of the first of these fields that is present, or None."""
    found = first_text(row, names)
    return found[1] if found else None


def first_text(row: Record, names: Collection[str]) -> tuple[str, str] | None:
    """Return the name and the text of the first of these fields that is present."""
    for name in names:
        value = row.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, str):
            return name, value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            found = "the value, which is private," if name in PRIVATE else quote(value)
            raise RecordError("invalid_value", f"{found} is not a text or a number", field=name)
        return name, str(value)
    return None


def tag_in(row: Record, name: str) -> str | None:
    """Return a field as the value of a tag, or None if it has no text, number or truth value."""
    value = row.get(name)
    if isinstance(value, bool) or value in _TRUTH_VALUES:
        return str(value).lower()
    return text_in(row, name) if isinstance(value, (str, int, float)) else None


def number_in(row: Record, name: str) -> float | None:
    """Return a field as a number, or None if it is not there. `null`, `nan` and an empty text are no number."""
    value = row.get(name)
    if value is None or value != value or (isinstance(value, str) and value.strip().lower() in ("", "nan", "null")):
        return None
    if isinstance(value, bool):
        return float(value)
    return parse_number(required_text(row, name), field=name)


def flag_in(row: Record, name: str) -> bool | None:
    """Return a truth value, which a table writes as a text or a number, or None if it is not there."""
    value = row.get(name)
    if value is None or isinstance(value, bool):
        return value
    known = {"true": True, "1": True, "1.0": True, "yes": True, "false": False, "0": False, "0.0": False, "no": False}
    found = known.get(str(value).strip().lower()[:10])
    if found is None and value != "":
        raise RecordError("invalid_value", f"{quote(value)} is not true or false", field=name)
    return found


def list_in(row: Record, name: str) -> list[object]:
    """Return a list, which a table writes as JSON or as Python. A field that is not there is an empty list."""
    return _nested(row, name, list[object]) or []


def object_in(row: Record, name: str) -> dict[str, object]:
    """Return an object, which a table writes as JSON or as Python. A field that is not there is an empty object."""
    return _nested(row, name, dict[str, object]) or {}


def _nested(row: Record, name: str, kind: type[_Nested]) -> _Nested | None:
    value = row.get(name)
    try:
        if isinstance(value, str):
            value = parse_nested(value) if value.strip() else None
        return None if value is None else msgspec.convert(value, kind)
    except (msgspec.MsgspecError, RecursionError):
        what = "a list" if kind == list[object] else "an object"
        shown = "the value, which is private," if name in PRIVATE else quote(row.get(name))
        raise RecordError("invalid_value", f"{shown} is not {what}", field=name) from None


def parse_nested(text: str) -> object:
    """Return a list or an object that a table writes as JSON, or as Python does if it was saved with pandas.

    >>> parse_nested("{'math': True, 'score': None}")
    {'math': True, 'score': None}
    """
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        if len(text) > _LONGEST_LITERAL or text.lstrip()[:2] not in ("{'", "['", "[{"):
            raise
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise msgspec.DecodeError("neither JSON nor a literal of Python") from None


def ranks_of(scores: Sequence[float]) -> list[int]:
    """Return the ranks of scores. The highest is 1, equal scores are tied.

    >>> ranks_of([2.0, 5.0, 2.0])
    [2, 1, 2]
    """
    descending = sorted(-score for score in scores)
    return [1 + bisect_left(descending, -score) for score in scores]
