"""Templates of judgments: what rows with the same verdict share. The complete reader makes them, one row for each."""

from __future__ import annotations

from dataclasses import dataclass
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

_ESCAPE = b"\\"


@dataclass(frozen=True, kw_only=True)
class Template:
    """The fields that rows with the same verdict share, also as JSON, and the texts of their ids around the others."""

    campaign: str = ""
    systems: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    fields: bytes = b""
    before: bytes = b""
    after: bytes = b""
    left_out: str | None = None  # why such rows are not judgments
    sequence: int = 0  # of the numbers of such rows


def make_template(
    row: Mapping[str, object],
    number: int,
    judge: JudgeRow,
    trial: ImportRun,
    *,
    sequence: int | None,
    has_ranking: bool,
) -> tuple[Template | None, Judgment | None]:
    """Return the template of rows with the verdict of this one, and its judgment. `trial` is a run for this only.

    There is no template if such rows need the complete reader. Rows of a `sequence` have a number of their own for
    their ids. With `has_ranking`, they have their own systems and ranks.
    """
    trial.summary, trial.conversations = Summary(), RecentConversations()
    try:
        judgments = [validate_one(judgment) for judgment in judge(row, number, trial)]
    except RecordError:
        return None, None
    if trial.summary.unranked or len(judgments) > 1 or len(judgments) + trial.summary.left_out.total() != 1:
        return None, None
    if not judgments:  # a row with a ranking of its own says nothing about the others
        return None if has_ranking else Template(left_out=next(iter(trial.summary.left_out))), None
    judgment = judgments[0]
    fields = shared_fields(judgment, without=("systems", "ranks") if has_ranking else ())
    if judgment.ranks is None or judgment.request is not None or _ESCAPE in fields:
        return None, None
    if sequence is not None:
        campaign = judgment.campaign
        return Template(campaign=campaign, fields=fields, before=f"{campaign}.".encode(), sequence=sequence), judgment
    if has_ranking:
        campaign = judgment.campaign
        return Template(campaign=campaign, fields=fields, before=f"{campaign}|".encode()), judgment
    after = "|".join(("", *judgment.systems, *map(str, judgment.ranks)))
    template = Template(
        campaign=judgment.campaign,
        systems=judgment.systems,
        ranks=judgment.ranks,
        fields=fields,
        before=f"{judgment.campaign}|".encode(),
        after=after.encode(),
    )
    return template, judgment
