"""All layouts of records, in one list for the registry and for Parquet, and those that can't rank systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.formats import arena
from streams.formats.arenas import (
    alpaca_eval,
    arena_hard,
    comparia,
    copilot,
    fastchat,
    feedback,
    open_webui,
    pick_a_pic,
    preferences,
    promptfoo,
    rated_completions,
)
from streams.formats.platforms import argilla, label_studio_rows, mturk, prodigy

if TYPE_CHECKING:
    from collections.abc import Collection

    from streams.formats.records import RecordLayout

LAYOUTS: tuple[RecordLayout, ...] = (
    arena.LAYOUT,
    fastchat.LOG,
    fastchat.PAIRS,
    comparia.VOTES,
    comparia.REACTIONS,
    copilot.LAYOUT,
    alpaca_eval.LAYOUT,
    arena_hard.LAYOUT,
    pick_a_pic.LAYOUT,
    preferences.LAYOUT,
    feedback.COMPARISONS,
    feedback.SCORES,
    rated_completions.ULTRAFEEDBACK,
    rated_completions.PRISM,
    open_webui.LAYOUT,
    promptfoo.LAYOUT,
    label_studio_rows.LAYOUT,
    argilla.LAYOUT,
    prodigy.LAYOUT,
    mturk.LAYOUT,
)

_UNUSABLE = (
    (
        ({"chosen", "rejected"}, {"instruction", "output_1", "output_2"}),
        "it has outputs, but not the systems that made them, so it can't rank systems; add the columns chosen_model "
        "and rejected_model, or generator_1 and generator_2",
    ),
    (
        ({"submission id", "participant id"},),
        "it is a list of participants of Prolific and has no judgments; read the file with the answers",
    ),
)


def explain_unusable(names: Collection[str]) -> str | None:
    """Return why records with these fields can't rank systems, if that is known.

    >>> explain_unusable(["chosen", "rejected"])[:15]
    'it has outputs,'
    """
    known = {name.lower() for name in names}
    return next((reason for groups, reason in _UNUSABLE if any(known >= group for group in groups)), None)
