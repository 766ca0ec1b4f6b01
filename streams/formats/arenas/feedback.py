"""Read summaries that people compared or scored: the data set of summarize-from-feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.records import RecordLayout, assess, compare, list_in, number_in, object_in, required_text, text_in
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment


def _judge_comparison(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    summaries = [each for each in list_in(row, "summaries") if isinstance(each, dict)]
    choice = number_in(row, "choice")
    if len(summaries) != 2:
        raise RecordError("length_mismatch", f"{len(summaries)} summaries; a comparison has two", field="summaries")
    if choice not in (0, 1):
        raise RecordError("invalid_value", f"{quote(row.get('choice'))} is not 0 or 1", field="choice")
    confidence = object_in(row, "extra").get("confidence")
    return compare(
        run,
        number,
        [required_text(each, "policy") for each in summaries],
        (1, 2) if choice == 0 else (2, 1),
        segment=_post(row),
        judge=text_in(row, "worker"),
        tags={
            "batch": text_in(row, "batch"),
            "split": text_in(row, "split"),
            "confidence": str(confidence) if isinstance(confidence, int) else None,
        },
    )


def _summary_texts(row: Record, _: Judgment) -> dict[str, object]:
    summaries = [each for each in list_in(row, "summaries") if isinstance(each, dict)]
    return {str(each.get("policy")): each.get("text") for each in summaries}


def _judge_score(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    summary = object_in(row, "summary")
    score = number_in(object_in(summary, "axes"), "overall")
    if score is None:
        run.leave_out("no overall score")
        return []
    tags = {"batch": text_in(row, "batch"), "split": text_in(row, "split")}
    policy = required_text(summary, "policy")
    return [assess(run, number, policy, score, segment=_post(row), judge=text_in(row, "worker"), tags=tags)]


def _post(row: Record) -> str | None:
    return text_in(object_in(row, "info"), "id", "post", "article")


COMPARISONS = RecordLayout(
    name="summary-comparisons",
    about="summarize-from-feedback: two summaries and the choice of a worker",
    needs=(("info", "summaries", "choice"),),
    columns=("worker", "batch", "split", "extra"),
    judge=_judge_comparison,
    texts=_summary_texts,
)
SCORES = RecordLayout(
    name="summary-scores",
    about="summarize-from-feedback: one summary and its scores (axis_evals)",
    needs=(("info", "summary", "worker"),),
    columns=("batch", "split"),
    judge=_judge_score,
)
