"""The categories of a campaign for people: which leaderboards there are, and which judgments are on none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from streams.errors import ParameterError, suggestion
from streams.wire.decoding import quote
from streams.wire.leaderboard import category_order

if TYPE_CHECKING:
    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.wire.events import Leaderboard


class ValueView(Struct, frozen=True, kw_only=True):
    """One value of a tag, which has a leaderboard."""

    value: str
    judgments: int


class TagView(Struct, frozen=True, kw_only=True):
    """One tag of the setting `boards`. Judgments `without` the tag, and of `other` values, are on no board of it."""

    tag: str
    values: tuple[ValueView, ...]
    without: int
    other: int


def category_views(campaign: ReadOnlyCampaign) -> tuple[TagView, ...]:
    """Return the tags of the setting `boards`, each with its values in order."""
    counts = campaign.categories
    if counts is None:
        return ()
    return tuple(
        TagView(
            tag=tag,
            values=tuple(
                sorted(
                    (
                        ValueView(value=name.value, judgments=judgments)
                        for name, judgments in zip(counts.names, counts.rankings, strict=True)
                        if name.tag == tag
                    ),
                    key=lambda view: view.value,
                )
            ),
            without=counts.without[place],
            other=counts.other[place],
        )
        for place, tag in enumerate(counts.tags)
    )


def find_category_boards(campaign: ReadOnlyCampaign, tag: str, value: str | None = None) -> list[Leaderboard]:
    """Return the leaderboard of each value of a tag, or of one. Raise ParameterError if there is none."""
    counts = campaign.categories
    tags = () if counts is None else counts.tags
    if tag not in tags:
        hint = suggestion(tag, tags) if tags else "its setting `boards` is empty"
        raise ParameterError(f"the campaign {campaign.name!r} has no leaderboards by {quote(tag)}; {hint}")
    known = [name.value for name in counts.names if name.tag == tag] if counts is not None else []
    if value is not None and value not in known:
        hint = suggestion(value, known) if known else "no judgment has this tag yet"
        raise ParameterError(f"no judgment of {campaign.name!r} that counts has {tag} {quote(value)}; {hint}")
    drafts = campaign.draft_categories(only=lambda name: name.tag == tag and value in (None, name.value))
    return sorted((draft.settle() for draft in drafts.values()), key=category_order)
