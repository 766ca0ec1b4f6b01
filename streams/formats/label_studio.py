"""Read Label Studio: exported tasks with annotations, or the payloads of its webhooks.

The labels are pairwise selections, or choices that name the winner.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from streams.errors import RecordError
from streams.formats.arena import RANKS, SEGMENT, first_text, required_text
from streams.formats.base import Format
from streams.formats.input.documents import Document, read_documents
from streams.formats.names import ANONYMOUS, UNSPECIFIED, campaign_name, shorten_name
from streams.formats.rankings import make_judgments, parse_time, refuse_long_names
from streams.formats.validation import row_reader
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

# The fields of a task's data that name the two systems. The first pair that is present counts.
SYSTEMS = (("model_a", "model_b"), ("system_a", "system_b"), ("model1", "model2"), ("system1", "system2"))

_EVENTS = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED")
_Id = int | str | None


class _AnnotationResult(msgspec.Struct):
    type: str = ""
    value: Document = {}


class _Annotation(msgspec.Struct):
    id: _Id = None
    completed_by: int | str | Document | None = None
    result: list[_AnnotationResult] = []
    was_cancelled: bool = False
    created_at: str | None = None
    lead_time: float | None = None


class _Task(msgspec.Struct):
    id: _Id = None
    data: Document = {}
    project: _Id = None


class _Comparison(NamedTuple):
    """What all annotations of a task share."""

    systems: tuple[str, str]
    project: object
    segment: str


class _TaskReader:
    """A task. It is read once, because it may be long and have many annotations."""

    def __init__(self, document: object, project: object = None) -> None:
        self._document = document if isinstance(document, dict) else {}
        self._project = project

    def comparison(self) -> _Comparison:
        """Return what is compared, or raise RecordError."""
        if isinstance(self._found, RecordError):
            raise self._found
        return self._found

    @cached_property
    def _found(self) -> _Comparison | RecordError:
        try:
            task = _convert(self._document, _Task, "task")
            sides = next((pair for pair in SYSTEMS if pair[0] in task.data and pair[1] in task.data), SYSTEMS[0])
            first, second = (required_text(task.data, side) for side in sides)
            project = task.project if self._project is None else self._project
            segment = first_text(task.data, SEGMENT[:2])
            refuse_long_names(systems=first, system=second, project=str(project))
        except RecordError as error:
            return error
        return _Comparison((first, second), project, shorten_name(segment[1]) if segment else _segment(task))


class _AnnotationRow(NamedTuple):
    task: _TaskReader
    annotation: object
    kind: str | None = None  # of a document that is not an annotation


def _read_rows(source: Source, _: ImportRun) -> Iterator[tuple[int, _AnnotationRow | RecordError]]:
    for line, document in read_documents(source):
        if isinstance(document, RecordError):
            yield line, document
        else:
            for row in _event(document) if "action" in document else _task(document):
                yield line, row


def _event(document: Document) -> list[_AnnotationRow]:
    project, action = document.get("project"), document["action"]
    task = _TaskReader(document.get("task"), project.get("id") if isinstance(project, dict) else None)
    if action not in _EVENTS:
        return [_AnnotationRow(task, None, "another event")]
    annotations = document.get("annotation")
    return [
        _AnnotationRow(task, annotation)
        for annotation in (annotations if isinstance(annotations, list) else [annotations])
    ]


def _task(document: Document) -> list[_AnnotationRow]:
    annotations, task = document.get("annotations"), _TaskReader(document)
    if not isinstance(annotations, list):
        return [_AnnotationRow(task, None)]
    rows = [_AnnotationRow(task, annotation) for annotation in annotations]
    return rows or [_AnnotationRow(task, None, "a task without annotations")]


def _to_judgments(row: _AnnotationRow, number: int, run: ImportRun) -> list[Judgment]:
    if row.kind:
        run.leave_out(row.kind)
        return []
    annotation = _convert(row.annotation, _Annotation, "annotation")
    if annotation.was_cancelled or not annotation.result:
        run.leave_out("skipped by the judge")
        return []
    systems, project, segment = row.task.comparison()
    return make_judgments(
        run,
        number,
        [((system,), rank) for system, rank in zip(systems, _verdict(annotation, systems), strict=True)],
        campaign=campaign_name(run, in_file=None if project is None else f"label-studio-{project}"),
        segment=segment,
        judge=_annotator(annotation),
        at=parse_time(annotation.created_at, field="created_at") if annotation.created_at else None,
        id=None if annotation.id is None else f"annotation-{annotation.id}",
        duration_ms=_duration(annotation.lead_time),
    )


def _verdict(annotation: _Annotation, systems: tuple[str, str]) -> tuple[int, int]:
    """Return the ranks of the two systems. Exactly one verdict must be among the results."""
    named = {system.lower(): ranks for system, ranks in zip(systems, ((1, 2), (2, 1)), strict=True)}
    said: list[object] = []
    for result in annotation.result:
        if result.type == "pairwise":
            said.append(result.value.get("selected"))
        elif result.type == "choices":
            choices = result.value.get("choices")
            said += choices if isinstance(choices, list) else [choices]
    known = RANKS | named
    verdicts = {known[word.strip().lower()] for word in said if isinstance(word, str) and word.strip().lower() in known}
    if len(verdicts) != 1:
        wanted = f"one of {', '.join(RANKS)}, or the name of a system"
        what = "different verdicts" if verdicts else "no verdict"
        raise RecordError("invalid_value", f"{what} in {quote(said)}; the result must be {wanted}", field="result")
    return verdicts.pop()


def _segment(task: _Task) -> str:
    return UNSPECIFIED if task.id is None else str(task.id)


def _annotator(annotation: _Annotation) -> str:
    by = annotation.completed_by
    if isinstance(by, dict):
        found = first_text(by, ("id", "email"))
        return found[1] if found else ANONYMOUS
    return ANONYMOUS if by is None else str(by)


def _duration(seconds: float | None) -> int | None:
    if seconds is not None and not 0 <= seconds <= 1e9:
        raise RecordError("invalid_value", f"{seconds} is not a number of seconds", field="lead_time")
    return None if seconds is None else round(seconds * 1000)


_Kind = TypeVar("_Kind", _Task, _Annotation)


def _convert(value: object, kind: type[_Kind], field: str) -> _Kind:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise RecordError("invalid_value", f"this is not how Label Studio writes it: {error}", field=field) from None


def _recognise(head: FileHead) -> bool:
    return {"action", "project"} <= head.keys or {"action", "annotation"} <= head.keys or "annotations" in head.keys


FORMAT = Format(
    name="label-studio",
    about="JSON export or webhook payloads of Label Studio: pairwise or choices",
    recognises=_recognise,
    batches=row_reader(_read_rows, _to_judgments),
)
