"""Read the spreadsheet of Google Forms: one row per person, and one column per question.

The name of a column ends with the systems in brackets: `Which is better? [gpt vs claude]`, or one column per system
in a grid, `Rank the answers [gpt]`. A grid is a ranking if its question contains the word rank, else it has scores.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.errors import FormatError, RecordError
from streams.formats.base import Format
from streams.formats.input.tables import Table
from streams.formats.platforms.times import parse_platform_time
from streams.formats.platforms.verdicts import find_verdict
from streams.formats.records import assess, compare
from streams.formats.validation import row_reader
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from streams.formats.base import ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_ENGLISH = "timestamp"
FIRST_COLUMNS = (_ENGLISH, "zeitstempel", "horodateur", "marca temporal", "informazioni cronologiche", "时间戳记")
EXAMPLE = "`Which is better? [gpt vs claude]`"
_JUDGES = ("email address", "e-mail address", "email", "username", "participant id", "prolific id", "worker id", "name")
_MOST_COLUMNS = 2000
_VERSUS = re.compile(r"\svs\.?\s", re.IGNORECASE)
_MAIL = re.compile(r"(?:your |adresse )?e-?mail\b.{0,20}|.{0,20}correo electrónico|电子邮件.{0,4}", re.IGNORECASE)
_RANK = re.compile(
    r"\b(?:rank|rang\b|rangfolge|reihenfolge|sortier|ordne|class(?:ez|er|ement)\b|ordonne|clasifi|orden[ae])|排[名序]",
    re.IGNORECASE,
)
_PLACE = re.compile(r"rank \d{1,3}|\d{1,3}(?:st|nd|rd|th|\.|er|re|e|ème|º|ª)|第.{1,2}名", re.IGNORECASE)
_NUMBER = re.compile(r"\D{0,20}?(-?\d{1,9}(?:\.\d{1,9})?)")


@dataclass(frozen=True)
class _Question:
    """A question: its text, the systems, and the column of each system. A comparison has one column for both."""

    text: str
    systems: tuple[str, ...]
    columns: tuple[int, ...]

    @property
    def label(self) -> str:
        """Return the text for an error, where it may not be long."""
        return quote(self.text)

    @property
    def is_comparison(self) -> bool:
        """Return whether one column has the better one of two systems."""
        return len(self.columns) < len(self.systems)


@dataclass(frozen=True)
class _Answers:
    """The answers of one person."""

    questions: Sequence[_Question]
    cells: Sequence[str]
    judge: str | None
    time: str
    day_first: bool


def _questions(header: Sequence[str]) -> list[_Question]:
    """Return the questions with systems. One that is there a second time has a number behind its text."""
    seen: Counter[tuple[str, str]] = Counter()
    found: list[_Question] = []
    grids: dict[str, dict[str, int]] = {}
    for place, name in enumerate(header):
        text, bracket, inside = name.strip().rpartition("[")
        if not bracket or not inside.endswith("]"):
            continue
        text, systems = text.strip(), [system.strip() for system in _VERSUS.split(inside[:-1], maxsplit=1)]
        seen[text, inside] += 1
        if seen[text, inside] > 1:
            text = f"{text} ({seen[text, inside]})"
        if len(systems) == 2 and all(systems) and systems[0] != systems[1]:
            found.append(_Question(text, (systems[0], systems[1]), (place,)))
        elif inside[:-1].strip():
            grids.setdefault(text, {})[inside[:-1].strip()] = place
    return found + [_Question(text, tuple(grid), tuple(grid.values())) for text, grid in grids.items()]


def _read_rows(source: Source, _: ImportRun) -> Iterator[tuple[int, _Answers | RecordError]]:
    table = Table(source, required=(), kind="a table of Google Forms", may_repeat=True)
    questions = _questions(table.header)
    if not questions:
        raise FormatError(f"{source.name}:1: no question names its systems in brackets, as {EXAMPLE} does")
    if len(table.header) > _MOST_COLUMNS:
        raise FormatError(f"{source.name}:1: {len(table.header):,} columns; a form has at most {_MOST_COLUMNS:,}")
    judge = next((table.columns[name] for name in _JUDGES if name in table.columns), None)
    if judge is None:
        judge = next((place for place, name in enumerate(table.header) if _MAIL.fullmatch(name)), None)
    day_first = table.header[0].lower() != _ENGLISH
    for line, cells in table.rows():
        if isinstance(cells, RecordError):
            yield line, cells
        else:
            yield line, _Answers(questions, cells, cells[judge] if judge is not None else None, cells[0], day_first)


def _to_judgments(row: _Answers, number: int, run: ImportRun) -> list[Judgment]:
    """Return one judgment per comparison and ranking, and one per score. Without a name, every row is another judge."""
    judge = row.judge or f"response-{number}"
    at = parse_platform_time(row.time, field="Timestamp", day_first=row.day_first) if row.time else None
    found: list[Judgment] = []
    for place, question in enumerate(row.questions):
        found += _answer(row, question, f"{number}.{place + 1}", number, run, judge=judge, at=at)
    if not found:
        run.leave_out("no answer")
    return found


def _answer(
    row: _Answers,
    question: _Question,
    name: str,
    number: int,
    run: ImportRun,
    *,
    judge: str,
    at: datetime | None,
) -> list[Judgment]:
    cells = [row.cells[column].strip() for column in question.columns]
    if question.is_comparison:
        if not cells[0]:
            return []
        ranks: Sequence[int] = find_verdict(cells, question.systems, field=question.label)
        return compare(run, number, question.systems, ranks, segment=question.text, judge=judge, at=at, id=name)
    given = [
        (system, _number(cell, question.label)) for system, cell in zip(question.systems, cells, strict=True) if cell
    ]
    if not _RANK.search(question.text):
        if place := next((cell for cell in cells if _PLACE.fullmatch(cell)), None):
            message = f"{quote(place)} looks like a rank, but the question asks for scores; write rank in the question"
            raise RecordError("invalid_value", message, field=question.label)
        return [
            assess(run, number, system, score, segment=question.text, judge=judge, at=at) for system, score in given
        ]
    run.summary.unranked += len(cells) - len(given) if given else 0
    if len(given) < 2:
        return []
    bad = next((value for _, value in given if value < 1 or not value.is_integer()), None)
    if bad is not None:
        raise RecordError("invalid_value", f"{bad:g} is not a rank; 1 is best", field=question.label)
    ranks = [int(value) for _, value in given]
    systems = [system for system, _ in given]
    return compare(run, number, systems, ranks, segment=question.text, judge=judge, at=at, id=name)


def _number(cell: str, field: str) -> float:
    """Return the first number of an answer such as `1st`, `Rank 2` or `4 - good`."""
    found = _NUMBER.match(cell)
    if not found:
        raise RecordError("invalid_value", f"{quote(cell)} has no number", field=field)
    return float(found[1])


def _recognise(head: FileHead) -> bool:
    if head.start in (b"", b"{", b"[", b"<"):
        return False
    try:
        header = next(csv.reader(io.StringIO(head.data.decode(errors="replace")), delimiter=head.delimiter), [])
    except csv.Error:
        return False
    return (
        bool(header)
        and header[0].strip().lower() in FIRST_COLUMNS
        and bool(_questions([cell.strip() for cell in header]))
    )


FORMAT = Format(
    name="google-forms",
    about="spreadsheet of Google Forms: one row per person, systems in the brackets of the questions",
    recognises=_recognise,
    batches=row_reader(_read_rows, _to_judgments),
)
