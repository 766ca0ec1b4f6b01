"""The leaderboard of a campaign, with its rank ranges, its outlook and its cautions."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from streams.wire.fields import CampaignName, Count, Name


class Row(Struct, frozen=True, kw_only=True):
    """One row of a leaderboard. Rank, rank range and cluster are within the row's island."""

    system: Name
    rank: Annotated[int, Meta(ge=1)]
    rank_low: Annotated[int, Meta(ge=1, description="Best rank at 95 %, if the same judges were asked again.")]
    rank_high: Annotated[int, Meta(ge=1, description="Worst rank at 95 %, if the same judges were asked again.")]
    cluster: Annotated[int, Meta(ge=1)]
    score: float
    deviation: Annotated[float, Meta(ge=0)]
    judgments: Count
    judge_rank_low: (
        Annotated[int, Meta(ge=1, description="Best rank at 95 % for other judges of this kind. Null: not known.")]
        | None
    ) = None
    judge_rank_high: (
        Annotated[int, Meta(ge=1, description="Worst rank at 95 % for other judges of this kind. Null: not known.")]
        | None
    ) = None
    line_above: Annotated[
        Literal["judgments", "judges"] | None,
        Meta(
            description=(
                "The line between this row's cluster and the one above, on its first row. `judges`: it holds for other "
                "judges too. `judgments`: for the same judges only, or that is not known. Null: there is no line."
            )
        ),
    ] = None
    island: Annotated[
        int, Meta(ge=1, description="Systems of different islands were never compared, not even indirectly.")
    ] = 1


CautionCode = Literal[
    "islands",
    "sweeps",
    "few_judgments",
    "few_judges",
    "ties",
    "intransitive",
    "one_judge",
    "position_bias",
    "favoured_system",
    "flagged_judges",
    "left_out",
]


class Caution(Struct, frozen=True, kw_only=True):
    """A reason to read a leaderboard with care, as a sentence, with the page of the documentation that explains it."""

    code: CautionCode
    message: str
    link: str


class BoardOutlook(Struct, frozen=True, kw_only=True):
    """Whether more judgments would draw one more line, and how many."""

    state: Annotated[
        Literal["open", "settled", "budget_spent", "closed"],
        Meta(description="`settled`: the stop rule is met. `budget_spent`: no judgment of the budget is left."),
    ]
    message: str
    above: Annotated[Name | None, Meta(description="System above the next line.")] = None
    below: Annotated[Name | None, Meta(description="System below the next line.")] = None
    judgments: Annotated[Count | None, Meta(description="Estimated number of judgments until the next line.")] = None
    judges: Annotated[
        Count | None, Meta(description="Estimated number of new judges until the next line, if more judges are needed.")
    ] = None


class Category(Struct, frozen=True, kw_only=True):
    """The judgments of a campaign that have one value of a tag."""

    tag: Annotated[Name, Meta(description="Name of the tag. Offline also `judge`, `segment` or `source`.")]
    value: Name


class Leaderboard(Struct, frozen=True, kw_only=True):
    """The ranking of a campaign, or of one category of its judgments, at one offset of its log."""

    campaign: CampaignName
    model: Name
    sequence: Annotated[
        int, Meta(ge=0, description="Number of records of this campaign that are included. A higher number is newer.")
    ]
    offset: Annotated[int, Meta(ge=-1, description="Offset of the last record that is included.")]
    judgments: Count
    rows: tuple[Row, ...]
    judges: Annotated[Count, Meta(description="Number of judges whose judgments count.")] = 0
    scale: Annotated[
        Literal["score", "elo"], Meta(description="Unit of `score` and `deviation`. Events always have `score`.")
    ] = "score"
    elo_per_score: Annotated[
        float | None, Meta(description="Elo points per unit of `score`: 400 per factor of ten in the odds.")
    ] = None
    margin: Annotated[
        float | None, Meta(description="Fitted difference within which judges tie, in units of `score`.")
    ] = None
    fragility: Annotated[
        Count | None,
        Meta(description="Number of judgments that would have to be taken away before another system leads."),
    ] = None
    outlook: BoardOutlook | None = None
    cautions: tuple[Caution, ...] = ()
    left_out: Annotated[dict[str, int], Meta(description="Number of judgments that were left out, by reason.")] = {}
    pending: Annotated[
        str | None, Meta(description="Change that the ranking does not include yet, for example a retraction.")
    ] = None
    category: Annotated[
        Category | None, Meta(description="Category whose judgments alone are ranked. Null: all judgments.")
    ] = None


def category_order(board: Leaderboard) -> tuple[str, str]:
    """Return what leaderboards of one campaign are sorted by: tag and value. That of all judgments is first."""
    return ("", "") if board.category is None else (board.category.tag, board.category.value)


def leaderboard_key(campaign: str, category: Category | None = None) -> str:
    """Return the key of a leaderboard in its topic. No campaign has a `/` in its name, and no tag of `boards` a `=`.

    >>> leaderboard_key("c"), leaderboard_key("c", Category(tag="language", value="de"))
    ('c', 'c/language=de')
    """
    return campaign if category is None else f"{campaign}/{category.tag}={category.value}"
