"""The reasons for which a record is rejected."""

from __future__ import annotations

from typing import Literal, get_args

Reason = Literal[
    "empty",
    "too_large",
    "invalid_utf8",
    "invalid_json",
    "too_deep",
    "missing_field",
    "invalid_value",
    "unknown_version",
    "too_few_systems",
    "duplicate_system",
    "length_mismatch",
    "ranks_or_score",
    "wrong_partition",
    "in_the_future",
    "too_many_campaigns",
    "unknown_campaign",
    "unknown_system",
    "too_many_systems",
    "too_many_judges",
    "campaign_closed",
    "judge_excluded",
    "judge_too_fast",
    "unrequested",
    "other_judge",
    "too_many_changes",
    "unsuited_to_model",
    "without_baseline",
    "refused_command",
]
REASONS: tuple[str, ...] = get_args(Reason)
