"""Read Label Studio: exported tasks with annotations, or the payloads of its webhooks.

The labels are pairwise selections, or choices that name the winner.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from streams.errors import RecordError
from streams.formats.arena import BOTH_BAD, SEGMENT, is_both_bad
from streams.formats.base import Format
from streams.formats.input.documents import Document, read_documents
from streams.formats.names import ANONYMOUS, UNSPECIFIED, campaign_name, shorten_name
from streams.formats.platforms.verdicts import find_verdict, systems_in, texts_in
from streams.formats.rankings import make_judgments, parse_time, refuse_long_names
from streams.formats.records import first_text
from streams.formats.validation import row_reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_UPDATED = "ANNOTATION_UPDATED"
_EVENTS = ("ANNOTATION_CREATED", _UPDATED, "ANNOTATIONS_CREATED")
_DELETED = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
_COMMENT = "textarea"
_Id = int | str | None


class _AnnotationResult(msgspec.Struct):
    type: str = ""
    value: Document = {}


class _Annotation(msgspec.Struct):
    id: _Id = None
    completed_by: int | str | Document | None = None
    result: list[_AnnotationResult] = []
    was_cancelled: bool = False
    skipped: bool = False  # in older exports
    created_at: str | float | None = None  # a number in older exports
    updated_at: str | float | None = None
    lead_time: float | None = None


class _Task(msgspec.Struct):
    id: _Id = None
    data: Document = {}
    project: _Id = None


class _Comparison(NamedTuple):
    """What all annotations of a task share."""

    systems: tuple[str, str]
    data: Document
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
            first, second = systems_in(task.data)
            project = task.project if self._project is None else self._project
            segment = first_text(task.data, SEGMENT[:2])
            refuse_long_names(systems=first, system=second, project=str(project))
        except RecordError as error:
            return error
        return _Comparison((first, second), task.data, project, shorten_name(segment[1]) if segment else _segment(task))


class _AnnotationRow(NamedTuple):
    task: _TaskReader
    annotation: object
    kind: str | None = None  # of a document that is not an annotation
    is_updated: bool = False


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
        _AnnotationRow(task, annotation, is_updated=action == _UPDATED)
        for annotation in (annotations if isinstance(annotations, list) else [annotations])
    ]


def _task(document: Document) -> list[_AnnotationRow]:
    # Older versions of Label Studio called annotations completions.
    annotations, task = document.get("annotations", document.get("completions")), _TaskReader(document)
    if not isinstance(annotations, list):
        return [_AnnotationRow(task, None)]
    rows = [_AnnotationRow(task, annotation) for annotation in annotations]
    return rows or [_AnnotationRow(task, None, "a task without annotations")]


def _to_judgments(row: _AnnotationRow, number: int, run: ImportRun) -> list[Judgment]:
    if row.kind:
        run.leave_out(row.kind)
        return []
    annotation = _convert(row.annotation, _Annotation, "annotation")
    if _is_empty(annotation):
        run.leave_out("skipped by the judge")
        return []
    systems, data, project, segment = row.task.comparison()
    said = _answers(annotation)
    name = None if annotation.id is None else f"annotation-{annotation.id}"
    is_changed = row.is_updated and name is not None
    time, field = (
        (annotation.updated_at or annotation.created_at, "updated_at")
        if is_changed
        else (annotation.created_at, "created_at")
    )
    judgments = make_judgments(
        run,
        number,
        [((system,), rank) for system, rank in zip(systems, find_verdict(said, systems, field="result"), strict=True)],
        campaign=campaign_name(run, in_file=None if project is None else f"label-studio-{project}"),
        segment=segment,
        judge=_annotator(annotation),
        at=parse_time(time, field=field) if time else None,
        id=f"{name}-{_version(annotation)}" if is_changed else name,
        replaces=name if is_changed else None,
        duration_ms=lead_time_ms(annotation.lead_time),
        tags={"outcome": BOTH_BAD} if any(map(is_both_bad, said)) else None,
    )
    if run.features is not None:
        for judgment in judgments:
            run.features.observe_texts(data, judgment, texts_in(data, systems))
    return judgments


def find_revoked(document: Document) -> list[str]:
    """Return the ids of the judgments that an event takes back: annotations that were deleted, or have no verdict now.

    >>> find_revoked({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 17}, {"id": 18}]})
    ['annotation-17', 'annotation-18']
    """
    action = document.get("action")
    if action not in (*_DELETED, _UPDATED):
        return []
    given = document.get("annotation" if action == _UPDATED else "annotations", document.get("annotation"))
    found = [_convert(each, _Annotation, "annotation") for each in (given if isinstance(given, list) else [given])]
    if action == _UPDATED:
        found = [annotation for annotation in found if _is_empty(annotation)]
    return [f"annotation-{annotation.id}" for annotation in found if annotation.id is not None]


def _is_empty(annotation: _Annotation) -> bool:
    """Return whether a judge skipped the task. A comment may be there."""
    return annotation.was_cancelled or annotation.skipped or all(each.type == _COMMENT for each in annotation.result)


def _version(annotation: _Annotation) -> str:
    """Return what tells the versions of an annotation apart. A webhook that is sent again has the same."""
    if annotation.updated_at:
        return parse_time(annotation.updated_at, field="updated_at").isoformat()
    return blake2b(msgspec.json.encode(annotation), digest_size=8).hexdigest()


def _answers(annotation: _Annotation) -> list[str]:
    """Return the texts of all pairwise selections and choices."""
    said: list[object] = []
    for result in annotation.result:
        if result.type == "pairwise":
            said.append(result.value.get("selected"))
        elif result.type == "choices":
            choices = result.value.get("choices")
            said += choices if isinstance(choices, list) else [choices]
    return [text for text in said if isinstance(text, str)]


def _segment(task: _Task) -> str:
    return UNSPECIFIED if task.id is None else str(task.id)


def _annotator(annotation: _Annotation) -> str:
    by = annotation.completed_by
    if isinstance(by, dict):
        found = first_text(by, ("id", "email"))
        return found[1] if found else ANONYMOUS
    return ANONYMOUS if by is None else str(by)


def lead_time_ms(seconds: float | None) -> int | None:
    """Return a duration in milliseconds, or raise RecordError if it is not possible."""
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
    keys = head.keys
    is_task = "annotations" in keys or {"completions", "data"} <= keys
    return {"action", "project"} <= keys or {"action", "annotation"} <= keys or is_task


FORMAT = Format(
    name="label-studio",
    about="JSON export or webhook payloads of Label Studio: pairwise or choices",
    recognises=_recognise,
    batches=row_reader(_read_rows, _to_judgments),
)
