"""The setting `boards`: which tags may have leaderboards by category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core import models
from streams.errors import RecordError
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models import Model


def check_boards(tags: Sequence[str], *, model: Model) -> None:
    """Raise RecordError if tags can't have leaderboards, or none with this model."""
    if not tags:
        return
    if len(set(tags)) != len(tags):
        raise _refused("`boards` names one twice")
    if wrong := next((tag for tag in tags if "=" in tag), None):
        raise _refused(f"`boards` has {quote(wrong)}: a tag with `=` can't have leaderboards")
    if not model.ranks_categories:
        suited = ", ".join(name for name, each in models.MODELS.items() if each.ranks_categories)
        raise _refused(
            f"the model {model.name!r} has no leaderboards by category; leave out `boards`, choose a model that has "
            f"them ({suited}), or rank the log with `judgestream rank --by`"
        )


def _refused(message: str) -> RecordError:
    return RecordError("refused_command", message, field="settings.boards")
