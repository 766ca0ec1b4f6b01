"""Read the annotations of Pearmut: one JSON object per document, with a score for each model and item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.base import Format
from streams.formats.input.documents import read_documents
from streams.formats.names import campaign_name, shorten_name
from streams.formats.rankings import parse_time
from streams.formats.scores import Score, keep_last, make_scores, optional_number
from streams.formats.validation import row_reader
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from streams.formats.base import EntryBatch, ImportRun
    from streams.formats.input.documents import Document
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_RESET = "__RESET__"
_NOT_TASKS = ("welcome", "random", "goodbye")  # of `item_i`: tutorials and attention checks
_CHECK = "an attention check or a tutorial"


class _AnnotationFile:
    """The lines of one file. A reset erases everything that the judge submitted before."""

    def __init__(self) -> None:
        self._line = 0
        self._resets: dict[str, int] = {}  # line, by judge

    def rows(self, source: Source, _: ImportRun) -> Iterator[tuple[int, Document | RecordError]]:
        """Yield the lines of the file."""
        for self._line, document in read_documents(source):
            yield self._line, document

    def judge(self, row: Document, number: int, run: ImportRun) -> list[Judgment]:
        """Return the judgments of a line."""
        run.summary.scale = "raw"
        judge, place = _label(row, "user_id"), _label(row, "item_i")
        if row.get("annotation") == _RESET:
            self._resets[judge] = self._line
            run.leave_out("a reset")
            return []
        if place.startswith(_NOT_TASKS):
            run.leave_out(_CHECK)
            return []
        scores = []
        checks = 0
        time = _submission_time(row.get("actions"))
        for index, (annotation, item) in enumerate(_items(row)):
            name = item.get("item_id")
            segment = shorten_name(str(name) if isinstance(name, (str, int)) else f"{place}:{index}")
            if "validation" in item or segment.startswith("attention_check_") or "_#_tutorial_#_" in segment:
                checks += 1
                continue
            for model, given in annotation.items():
                if not isinstance(given, dict):
                    raise RecordError("invalid_value", f"{quote(given)} is not an annotation", field="annotation")
                score = optional_number(given.get("score"))
                if score is None:
                    run.summary.unranked += 1
                else:
                    scores.append(Score(model, score, campaign_name(run), segment, judge, time))
        if not scores:
            run.leave_out(_CHECK if checks else "not scored")
        return make_scores(run, number, *scores)

    def finish(self, line: int, judgment: Judgment) -> Judgment | str:
        """Return the judgment, or why it is left out."""
        return "erased by a reset" if line < self._resets.get(judgment.judge, 0) else judgment


def _items(row: Document) -> Iterator[tuple[Document, Document]]:
    """Yield the annotation and the description of each item. The first version had one item per line, undescribed."""
    annotations, items = row.get("annotation"), row.get("item")
    if isinstance(annotations, dict):
        annotations = [annotations]
    if not isinstance(annotations, list):
        raise RecordError("invalid_value", f"{quote(annotations)} is not a list", field="annotation")
    for index, annotation in enumerate(annotations):
        if annotation is None:  # the item was skipped
            continue
        if not isinstance(annotation, dict):
            raise RecordError("invalid_value", f"{quote(annotation)} is not an object", field="annotation")
        item = items[index] if isinstance(items, list) and index < len(items) else None
        yield annotation, item if isinstance(item, dict) else {}


def _label(row: Document, name: str) -> str:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise RecordError("missing_field", f"`{name}` is missing or not a text", field=name)
    return str(value)


def _submission_time(actions: object) -> datetime | None:
    last = actions[-1] if isinstance(actions, list) and actions else None
    time = last.get("time") if isinstance(last, dict) else None
    return parse_time(time, field="actions") if isinstance(time, (int, float)) else None


def _batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    file = _AnnotationFile()
    return keep_last(row_reader(file.rows, file.judge)(source, run), run, finish=file.finish)


def _recognise(head: FileHead) -> bool:
    return "annotation" in head.keys and not head.keys.isdisjoint(("actions", "item_i"))


FORMAT = Format("pearmut", "annotations of Pearmut: JSON Lines, one object per document", _recognise, _batches)
