"""Read the human evaluations of WMT24 and WMT25 as JSON Lines: one line per score, or one per segment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.base import Format
from streams.formats.input.documents import read_documents
from streams.formats.names import ANONYMOUS, campaign_name, language_pair, shorten_name
from streams.formats.rankings import parse_time
from streams.formats.scores import Score, make_scores, optional_number
from streams.formats.validation import row_reader
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from streams.formats.base import ImportRun
    from streams.formats.input.documents import Document
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_BETWEEN = "_#_"  # languages, domain, document and segment in one name
_LANGUAGES = re.compile(r"([a-z]{2,3})-([a-z]{2,3}(?:_[a-z]{2,4})?)", re.IGNORECASE)
_WAVE = re.compile(r"(?:human|score)(\d*)")


def _read_rows(source: Source, _: ImportRun) -> Iterator[tuple[int, Document | RecordError]]:
    return read_documents(source)


def _to_judgments(row: Document, number: int, run: ImportRun) -> list[Judgment]:
    run.summary.scale = "raw"
    document = _text(row, "doc_id")
    if "tutorial" in document:
        run.leave_out("a tutorial")
        return []
    return _score(row, number, run, document) if "esa_score" in row else _segment(row, number, run, document)


def _score(row: Document, number: int, run: ImportRun, document: str) -> list[Judgment]:
    """Return the judgment of a line with one score."""
    score = optional_number(row["esa_score"])
    if score is None:
        run.leave_out("not scored")
        return []
    line = row.get("line_id")
    return make_scores(
        run,
        number,
        Score(
            system=_text(row, "system"),
            score=score,
            campaign=campaign_name(run, pair=_pair(_text(row, "langs"))),
            segment=shorten_name(document if line is None else f"{document}:{line}"),
            judge=str(row.get("annotator") or ANONYMOUS),
            at=_time(row.get("times")),
            domain=_domain(row, document),
        ),
    )


def _segment(row: Document, number: int, run: ImportRun, document: str) -> list[Judgment]:
    """Return the judgments of a line with all scores of a segment."""
    scores = row.get("scores")
    if not isinstance(scores, dict):
        raise RecordError("invalid_value", f"{quote(scores)} is not an object", field="scores")
    campaign, domain = campaign_name(run, pair=_pair(document)), _domain(row, document)
    found = []
    for system, given in scores.items():
        for place, (score, rating) in enumerate(_ratings(given), start=1):
            if score is None:
                run.summary.unranked += 1
                continue
            judge = str(rating["annotator"] or f"{ANONYMOUS}-{place}")
            at = _time(rating["times"])
            found.append(Score(system, score, campaign, shorten_name(document), judge, at, domain=domain))
    if not found:
        run.leave_out("not scored")
    return make_scores(run, number, *found)


def _ratings(given: object) -> Iterator[tuple[float | None, dict[str, object]]]:
    """Yield the ratings of an output: a list of them, or one object whose keys end in the number of the wave."""
    for rating in given if isinstance(given, list) else [given]:
        if not isinstance(rating, dict):
            raise RecordError("invalid_value", f"{quote(rating)} is not a rating", field="scores")
        for key, value in rating.items():
            if wave := _WAVE.fullmatch(key):
                yield optional_number(value), {name: rating.get(f"{name}{wave[1]}") for name in ("annotator", "times")}


def _pair(name: str) -> str | None:
    """Return the language pair at the beginning of a document's name, or None: not all files have it there."""
    found = _LANGUAGES.fullmatch(name.partition(_BETWEEN)[0])
    return language_pair(*found.groups()) if found else None


def _domain(row: Document, document: str) -> str | None:
    """Return the domain: a field, or the second part of a document's name."""
    given = row.get("domain")
    parts = document.split(_BETWEEN)
    return given if isinstance(given, str) else parts[1] if len(parts) > 2 else None


def _time(times: object) -> datetime | None:
    end = times[-1] if isinstance(times, list) and times else None
    return parse_time(end, field="times") if isinstance(end, (str, int, float)) else None


def _text(row: Document, name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise RecordError("missing_field", f"`{name}` is missing or not a text", field=name)
    return value


def _recognise(head: FileHead) -> bool:
    keys = head.keys
    return {"esa_score", "system"} <= keys or ("scores" in keys and not keys.isdisjoint(("tgt_text", "src_text")))


FORMAT = Format(
    "wmt-humeval",
    "WMT's human evaluations as JSON Lines: ESA of WMT24 and WMT25",
    _recognise,
    row_reader(_read_rows, _to_judgments),
)
