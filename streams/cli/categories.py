"""The options --by and --value of commands that show the leaderboards of a running campaign."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from streams.cli.terminal import safe
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.wire.events import Leaderboard


@dataclass(frozen=True)
class CategoryChoice:
    """The chosen tag and value. Without a tag, the leaderboard of all judgments is shown."""

    tag: str | None = None
    value: str | None = None

    def boards(self, campaign: ReadOnlyCampaign) -> list[Leaderboard]:
        """Return the chosen leaderboards of a campaign, or raise UsageError."""
        from streams.reports.category_views import find_category_boards

        if self.tag is None:
            return [campaign.leaderboard()]
        try:
            return find_category_boards(campaign, self.tag, self.value)
        except ParameterError as error:
            raise click.UsageError(str(error)) from None

    def describe(self, campaign: ReadOnlyCampaign) -> list[str]:
        """Return how many judgments are on no leaderboard of the tag, in a sentence."""
        from streams.reports.category_views import category_views

        return [
            f"{view.without:,} judgments without {safe(view.tag)}, {view.other:,} of other values"
            for view in category_views(campaign)
            if view.tag == self.tag and (view.without or view.other)
        ]


def category_options(function: Callable[..., None], *, one: bool = False) -> Callable[..., None]:
    """Add --by and --value to a command, which gets the CategoryChoice `category`. With `one`, both are needed."""

    @wraps(function)
    def run(*arguments: Any, by: str | None, value: str | None, **more: Any) -> None:
        if value is not None and by is None:
            raise click.UsageError("--value needs --by")
        if one and by is not None and value is None:
            raise click.UsageError("--by needs --value here, because one leaderboard is shown")
        function(*arguments, category=CategoryChoice(by, value), **more)

    run = click.option("--value", metavar="VALUE", help="Value of the tag of --by.")(run)
    about = "Tag of the setting `boards`: leaderboards of its values.  [default: all judgments]"
    decorated: Callable[..., None] = click.option("--by", metavar="TAG", help=about)(run)
    return decorated
