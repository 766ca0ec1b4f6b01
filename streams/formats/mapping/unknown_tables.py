"""Explain why a file can't be read: what it looks like, its columns, and the likeliest mapping of them."""

from __future__ import annotations

import io
import re
from itertools import islice
from typing import TYPE_CHECKING

from streams.errors import FormatError, RecordError
from streams.formats import metrics_eval
from streams.formats.base import UnknownFormat
from streams.formats.input.documents import read_documents
from streams.formats.input.head import FileHead
from streams.formats.input.sources import PARQUET, Source
from streams.formats.input.tables import Table
from streams.formats.mapping.proposal import propose
from streams.formats.mapping.table import to_text
from streams.formats.mapping.table_sample import MOST_COLUMNS, TableSample
from streams.formats.platforms.forms import EXAMPLE, FIRST_COLUMNS
from streams.quoting import cut
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from streams.formats.mapping.column_mapping import ColumnMapping

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_ROWS = 200  # that are inspected
_LONGEST = 300  # characters of the columns in a message


def explain_unknown(head: bytes, *, name: str, formats: Collection[str]) -> UnknownFormat:
    """Return the error for a log of no known format, from its first bytes."""
    if not head.strip():
        return UnknownFormat(
            f"{name}: the file is empty, so its format is unknown; name the format with --from to read it anyway"
        )
    if _is_other_text(head):
        return UnknownFormat(
            f"{name}: the text is not UTF-8; choose its encoding with --encoding, for example latin-1 or gbk"
        )
    sample = _read_sample(head)
    if not sample.is_headed and metrics_eval.has_scores(FileHead(head)):
        scores = metrics_eval.FORMAT.name
        summary = f"{name}: unknown format; each line has a name and a number, as in the `.score` files of {scores}."
        return UnknownFormat(summary, way_out=f"If it is one, name the format: {scores}.", likely=scores)
    return _explain(sample, _describe(head), name=name, formats=formats)


def propose_words(head: bytes) -> ColumnMapping | None:
    """Return the mapping of a table of a known format whose verdicts are other words, from its first bytes."""
    return propose(_read_sample(head)) if head.strip() and not head.startswith(PARQUET) else None


def explain_columns(names: list[str], rows: Iterable[Mapping[str, object]], *, name: str) -> UnknownFormat:
    """Return the error for a table of no known format, from its columns and first rows."""
    sample = TableSample(names, [_texts(row) for row in rows], has_keys=True)
    return _explain(sample, "it has no columns", name=name, formats=())


def _explain(sample: TableSample, what: str, *, name: str, formats: Collection[str]) -> UnknownFormat:
    known = f"one of {', '.join(formats)}" if formats else "in one of the formats of docs/formats.md"
    choose = f" If it is {known}, name the format with --from."
    if not sample.is_headed:
        return UnknownFormat(f"{name}: unknown format; {what}.{choose}")
    columns = cut(", ".join(map(quote, sample.names)), _LONGEST)
    summary = f"{name}: unknown format with the columns {columns}."
    mapping = propose(sample)
    if mapping is None:
        summary += choose
        form = "--columns a=COLUMN,b=COLUMN,winner=COLUMN or system=COLUMN,score=COLUMN"
        way_out = f"Otherwise name the columns with {form}."
        if sample.names[0].lower() in FIRST_COLUMNS:
            way_out += f" If it is from Google Forms, name the systems in each question, as in {EXAMPLE}."
        return UnknownFormat(summary, way_out=way_out)
    summary += " If it is in one of the formats of docs/formats.md, name it with --from."  # the command comes first
    texts = mapping.options()
    python = ", ".join(f"{option.strip('-')}={text!r}" for option, text in zip(texts[::2], texts[1::2], strict=True))
    return UnknownFormat(summary, way_out=f"Otherwise name the columns, likely: {python}", mapping=mapping)


def _read_sample(head: bytes) -> TableSample:
    """Read the first rows of a table, as far as they are in the first bytes."""
    source = Source("", io.BytesIO(head), path=None, position=lambda: 0)
    names: dict[str, None] = {}
    rows = []
    has_keys = head.lstrip()[:1] in (b"[", b"{")
    try:
        if has_keys:
            for _, document in islice(read_documents(source), _ROWS):
                if not isinstance(document, RecordError) and len(names) <= MOST_COLUMNS:
                    row = _texts(_flattened(document))
                    names |= dict.fromkeys(row)
                    rows.append(row)
        else:
            table = Table(source, required=(), kind="a table")
            names = dict.fromkeys(table.header)
            if len(names) <= MOST_COLUMNS:
                rows += list(islice(_cells(table), _ROWS))
    except FormatError:  # the first bytes end within a row
        pass
    return TableSample(list(names), rows, has_keys=has_keys)


def _cells(table: Table) -> Iterator[dict[str, str]]:
    for _, cells in table.rows():
        if not isinstance(cells, RecordError):
            yield {name: cell.strip() for name, cell in zip(table.header, cells, strict=True)}


def _flattened(document: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of an object, and those of objects in it, as --columns names them.

    >>> _flattened({"pair": {"left": "a"}, "vote": 1})
    {'pair.left': 'a', 'vote': 1}
    """
    found: dict[str, object] = {}
    for name, value in document.items():
        inner = value if isinstance(value, dict) and len(value) <= MOST_COLUMNS else {}
        found |= {f"{name}.{each}": part for each, part in inner.items()} or {name: value}
    return found


def _texts(row: Mapping[str, object]) -> dict[str, str]:
    found = {}
    for name, value in row.items():
        try:
            found[name] = to_text(value, "", name)
        except RecordError:
            found[name] = quote(value, limit=1000)  # too long for the name of a system
    return found


def _is_other_text(head: bytes) -> bool:
    r"""Return whether a file is likely a text in another encoding: bytes that UTF-8 has not, but no control characters.

    >>> _is_other_text("Modèle,Juge\n".encode("latin-1")), _is_other_text("Modèle".encode()), _is_other_text(b"\x93\0")
    (True, False, False)
    """
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start < len(head) - 4 and not _CONTROLS.search(head)  # the last character may be cut
    return False


def _describe(head: bytes) -> str:
    """Return how a file begins, without its text, which may hold the id of a judge.

    >>> _describe(b"anna,a,b")
    "the file begins with 'a', and its first line has 2 commas"
    """
    try:
        text = head[:40].decode()
    except UnicodeDecodeError as error:
        text = head[: error.start].decode() if error.start > 40 - 4 else "\0"  # the last character may be cut
    if "\0" in text:
        return f"the file is binary and begins with the bytes {head[:8].hex(' ')}"
    line = head.partition(b"\n")[0].decode(errors="replace")
    counts = {"commas": line.count(","), "tabs": line.count("\t"), "semicolons": line.count(";")}
    separators = " and ".join(f"{count} {name}" for name, count in counts.items() if count) or "no separators"
    return f"the file begins with {quote(text[0])}, and its first line has {separators}"
