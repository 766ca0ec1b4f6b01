"""Templates of judgments: what rows with the same verdict share. The complete reader makes them, one row for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.base import Summary
from streams.formats.recent import RecentConversations, shared_fields
from streams.formats.validation import validate_one

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streams.formats.base import ImportRun
    from streams.wire.events import Judgment

    JudgeRow = Callable[[Mapping[str, object], int, ImportRun], list[Judgment]]


@dataclass(frozen=True, kw_only=True)
class Template:
    """The fields that rows with the same verdict share, as JSON, and the texts of their made ids around the others."""

    fields: bytes = b""
    before: bytes = b""
    after: bytes = b""
    left_out: str | None = None  # why such rows are not judgments


def make_template(
    row: Mapping[str, object], number: int, judge: JudgeRow, run: ImportRun
) -> tuple[Template | None, Judgment | None]:
    """Return the template of rows with the verdict of this one, and its judgment.

    There is no template if such rows need the complete reader.
    """
    trial = replace(run, summary=Summary(), conversations=RecentConversations(), shared=None)
    try:
        judgments = [validate_one(judgment) for judgment in judge(row, number, trial)]
    except RecordError:
        return None, None
    if trial.summary.unranked or len(judgments) > 1 or len(judgments) + trial.summary.left_out.total() != 1:
        return None, None
    if not judgments:
        return Template(left_out=next(iter(trial.summary.left_out))), None
    judgment = judgments[0]
    if judgment.ranks is None or judgment.request is not None:
        return None, None
    after = "|".join(("", *judgment.systems, *map(str, judgment.ranks)))
    before = f"{judgment.campaign}|"
    return Template(fields=shared_fields(judgment), before=before.encode(), after=after.encode()), judgment
