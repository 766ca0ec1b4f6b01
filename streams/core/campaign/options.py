"""Options of a campaign that come from outside its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.core.campaign.group_counts import MAX_GROUP_CELLS

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """Options that are the same for all campaigns of a processor."""

    pseudonyms: Mapping[str, str] | None = None  # by judge id; None: judges are stored under their own ids
    group_names: Mapping[str, str] | None = None  # by judge: the name that decides the group; None: as stored
    seen_ids: int = 100_000  # recent ids that are kept to detect duplicates
    create_unknown: bool = True  # whether a judgment may open its campaign
    remember_verdicts: bool = True  # so that a changed one is taken back at once; else it waits for a rerun
    only_judge: str | None = None  # pseudonym of the judge whose judgments are rated; None: those of all judges
    remember_all: bool = False  # from the first judgment on, not only after the first change
    follow_judges: bool = True  # compare each vote with the votes before it, for the cautions about judges
    seed: int = 1  # of the random number generator
    request_key: bytes = b""  # signs the ids of match requests where only answers to them are accepted
    max_judges: int | None = None  # per campaign; None: no limit
    max_segments: int | None = None  # per campaign; segments beyond it share one row
    max_group_cells: int = MAX_GROUP_CELLS  # per campaign; beyond it the counts of pairs have fewer groups
