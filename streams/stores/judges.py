"""Looking up one judge of a campaign, who is given by pseudonym or by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streams.core.campaign.pseudonyms import MARK, Pseudonyms, is_pseudonym, is_wire_pseudonym

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.stores.base import Store

    GivenAs = Literal["a pseudonym", "an id"]


@dataclass(frozen=True, kw_only=True)
class FoundJudge:
    """A judge of one campaign, by pseudonym."""

    pseudonym: str
    given_as: GivenAs
    judgments: int
    excluded: bool
    suspended: bool = False

    @property
    def on_the_wire(self) -> str:
        """The judge as a command names them."""
        return MARK + self.pseudonym

    def __str__(self) -> str:
        states = [name for name in ("excluded", "suspended") if getattr(self, name)]
        state = f", and is {' and '.join(states)}" if states else ""
        judgments = f"{self.judgments:,} judgment{'s' * (self.judgments != 1)}"
        return f"the judge {self.pseudonym} (given as {self.given_as}) has {judgments}{state}"


def read_as(given: str, key: str) -> Iterator[tuple[str, GivenAs]]:
    """Yield the pseudonyms that a text may mean, the more likely one first. Without a key it is no id."""
    if is_pseudonym(given.removeprefix(MARK)):
        yield given.removeprefix(MARK), "a pseudonym"
    if key and not is_wire_pseudonym(given):
        yield Pseudonyms(key.encode())[given], "an id"


def find_judge(store: Store, campaign: str, given: str, key: str) -> FoundJudge | None:
    """Return the judge of a campaign that a text means, or None. It is looked up as a pseudonym first."""
    found = (look_up(store, campaign, pseudonym, given_as) for pseudonym, given_as in read_as(given, key))
    return next((each for each in found if each is not None), None)


def look_up(store: Store, campaign: str, pseudonym: str, given_as: GivenAs) -> FoundJudge | None:
    """Return a judge of a campaign, or None. One who is excluded, suspended or retracted may have no judgments."""
    row, meta = store.read_judge(campaign, pseudonym), store.read_meta(campaign)
    excluded = meta is not None and pseudonym in meta.status.excluded
    suspended = meta is not None and pseudonym in meta.status.suspended
    retracted = meta is not None and pseudonym in meta.retractions.judges
    if row is None and not (excluded or suspended or retracted):
        return None
    judgments = 0 if row is None else row.judgments
    return FoundJudge(
        pseudonym=pseudonym, given_as=given_as, judgments=judgments, excluded=excluded, suspended=suspended
    )
