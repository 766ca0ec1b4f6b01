"""Rank the judgments of each value of a tag by themselves, beside the whole log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from streams.core.campaign.group_counts import MAX_GROUP_CELLS, category_cells
from streams.core.campaign.seen import SeenIds
from streams.errors import ParameterError, suggestion
from streams.formats.selection import ALIASES, TAG
from streams.reports import Report
from streams.wire.leaderboard import Category

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from functools import partial

    from streams.core.campaign.campaign import Campaign
    from streams.core.campaign.options import CampaignOptions
    from streams.core.campaign.retractions import Retractions
    from streams.offline.rating import RatedLog
    from streams.wire.events import Judgment, Leaderboard

    MakeBoard = Callable[[Campaign], Leaderboard]

FIELDS = ("judge", "segment", "source")  # of a judgment, besides its tags
MOST_BOARDS = 50  # per campaign: the values with the most judgments
MOST_RATED = 1000  # values per campaign that are rated, in order of appearance


class CategoryField:
    """The field or the tag by which a log is divided. `tag.judge` is a tag that has the name of a field.

    >>> CategoryField("language").name, CategoryField("tag.judge").name
    ('language', 'judge')
    """

    def __init__(self, name: str) -> None:
        given = ALIASES.get(name, name)
        if given in ("", TAG, "campaign", "system"):
            raise ParameterError(
                f"by: {name!r} divides no log; name a tag, for example language, or {', '.join(FIELDS)}"
            )
        self.is_tag = given not in FIELDS
        self.name = given.removeprefix(TAG)

    def value(self, judgment: Judgment) -> str | None:
        """Return the value of a judgment, or None."""
        if self.is_tag:
            return (judgment.tags or {}).get(self.name)
        found: str | None = getattr(judgment, self.name)
        return found or None


class CategoryCampaigns:
    """The judgments of one campaign, each value of a field in a campaign of its own.

    `without` counts judgments that have no value, and `beyond` those of values that came when MOST_RATED were known.
    """

    def __init__(
        self, field: CategoryField, make: partial[Campaign], options: CampaignOptions, retractions: Retractions
    ) -> None:
        self.field = field
        self.without = self.beyond = 0
        self.campaigns: dict[str, Campaign] = {}
        self.tags: set[str] = set()  # that judgments without a value have, a few of them
        self._make = make
        # As in a worker, where the counts of a category have less room than those of the campaign.
        self._options = replace(options, max_group_cells=category_cells(MAX_GROUP_CELLS))
        self._retractions = retractions
        self._seen = SeenIds(self._options.seen_ids)

    def apply(self, offsets: Sequence[int], judgments: Sequence[Judgment], rejected: Collection[int]) -> None:
        """Apply judgments, except duplicates and those that the campaign has rejected."""
        parts: dict[str, tuple[list[int], list[Judgment]]] = {}
        for offset, judgment in zip(offsets, judgments, strict=True):
            if offset in rejected or judgment.id in self._seen:
                continue
            self._seen.add(judgment.id)
            value = self.field.value(judgment)
            if value is None:
                self.without += 1
                self.tags.update(judgment.tags or () if len(self.tags) < MOST_BOARDS else ())
            elif value not in self.campaigns and value not in parts and len(self.campaigns) + len(parts) >= MOST_RATED:
                self.beyond += 1
            else:
                places, part = parts.setdefault(value, ([], []))
                places.append(offset)
                part.append(judgment)
        self._seen.discard_changes()
        for value, (places, part) in parts.items():
            if value not in self.campaigns:
                self.campaigns[value] = self._make(options=self._options)
                self.campaigns[value].retractions = self._retractions
            self.campaigns[value].apply(places, part)
            self.campaigns[value].discard_changes()

    def choose_values(self) -> list[str]:
        """Return the values that have a board, in order. If there are too many, the rarest have none."""
        sizes = {value: found.counts.judgments for value, found in self.campaigns.items() if found.counts.judgments}
        return sorted(sorted(sizes, key=lambda value: (-sizes[value], value))[:MOST_BOARDS])

    def boards(self, make_board: MakeBoard) -> CategoryBoards:
        """Return the leaderboards of the values that have one."""
        found: dict[str, Leaderboard] = {}
        problem = ""
        for value in self.choose_values():
            category = Category(tag=self.field.name, value=value)
            try:
                found[value] = msgspec.structs.replace(make_board(self.campaigns[value]), category=category)
            except ParameterError as error:  # for example, no judgment of the category has the baseline
                problem = problem or f"{value}: {error}"
        left_out = [value for value in self.campaigns if value not in found]
        return CategoryBoards(
            field=self.field.name,
            boards=found,
            without=self.without,
            left_out=len(left_out),
            left_out_judgments=self.beyond + sum(self.campaigns[value].counts.judgments for value in left_out),
            problem=problem,
        )


@dataclass(frozen=True, kw_only=True)
class CategoryBoards:
    """The leaderboards of one campaign by value, and what they do not include."""

    field: str
    boards: Mapping[str, Leaderboard]
    without: int
    left_out: int  # values
    left_out_judgments: int
    problem: str = ""  # the first one

    def notes(self) -> Iterator[str]:
        """Yield what the boards do not include."""
        if self.without:
            yield f"{_count(self.without, 'judgment')} without {self.field}"
        if self.left_out_judgments:
            text = f"{_count(self.left_out_judgments, 'judgment')} of other values of {self.field} are on no board"
            yield f"{text}; at most {MOST_BOARDS} values have one, those with the most judgments"
        if self.problem:
            yield f"no board of {self.problem}"


def rank_categories(rated: RatedLog, make_board: MakeBoard) -> tuple[tuple[Report, ...], list[str]]:
    """Return a report for each category of a log that was divided, and what they do not include.

    Raise ParameterError if no judgment has a value.
    """
    reports: list[Report] = []
    notes: list[str] = []
    for name in sorted(rated.campaigns.keys() & rated.categories.keys()):
        parts = rated.categories[name]
        found = parts.boards(make_board)
        notes += (f"{name}: {note}" for note in found.notes())
        reports += (
            Report(leaderboard=board, counts=parts.campaigns[value].tables.pair_counts())
            for value, board in found.boards.items()
        )
    if rated.categories and not any(parts.campaigns for parts in rated.categories.values()):
        field = next(iter(rated.categories.values())).field
        known = sorted(set().union(*(parts.tags for parts in rated.categories.values())))
        hint = suggestion(field.name, known) if field.is_tag and known else f"fields are {', '.join(FIELDS)}"
        raise ParameterError(f"by: no judgment has {'the tag' if field.is_tag else 'a'} {field.name}; {hint}")
    return tuple(reports), notes


def in_order(reports: Sequence[Report], categories: Sequence[Report]) -> list[Report]:
    """Return the report of each campaign, with those of its categories after it."""
    return [
        each
        for report in reports
        for each in (report, *categories)
        if each.leaderboard.campaign == report.leaderboard.campaign
    ]


def category_columns(board: Leaderboard) -> dict[str, str | None]:
    """Return the tag and the value of a leaderboard as columns of a table."""
    found = board.category
    return {"tag": None, "value": None} if found is None else {"tag": found.tag, "value": found.value}


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
