"""Judges on the command line: an id or a pseudonym is looked up in the stored state before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from streams.core.campaign.pseudonyms import MARK, Pseudonyms, is_pseudonym

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streams.settings import Settings
    from streams.stores import Store
    from streams.wire.events import Judgment

    GivenAs = Literal["a pseudonym", "an id"]


@dataclass(frozen=True, kw_only=True)
class FoundJudge:
    """A judge of one campaign, by pseudonym."""

    pseudonym: str
    given_as: GivenAs
    judgments: int
    excluded: bool

    @property
    def on_the_wire(self) -> str:
        """The judge as a command names them."""
        return MARK + self.pseudonym

    def __str__(self) -> str:
        excluded = ", and is excluded" if self.excluded else ""
        judgments = f"{self.judgments:,} judgment{'s' * (self.judgments != 1)}"
        return f"the judge {self.pseudonym} (given as {self.given_as}) has {judgments}{excluded}"


def find_judge(store: Store, settings: Settings, campaign: str, given: str, *, unseen: bool = False) -> FoundJudge:
    """Find a judge of a campaign by pseudonym or by id.

    A text that has the form of a pseudonym is looked up as one first. Raise ClickException if the campaign has no such
    judge. If `unseen` is set, a judge who is not known there is returned too.
    """
    if not store.read_head(campaign):
        raise click.ClickException(f"no campaign {campaign!r}; list them with: judgestream campaign show")
    candidates = list(read_as(given, settings))
    for pseudonym, given_as in candidates:
        found = look_up(store, campaign, pseudonym, given_as)
        if found is not None:
            return found
    if not candidates:
        raise click.ClickException(NO_KEY)
    if unseen:
        pseudonym, given_as = candidates[0]
        return FoundJudge(pseudonym=pseudonym, given_as=given_as, judgments=0, excluded=False)
    tried = " and ".join(f"as {given_as} ({pseudonym})" for pseudonym, given_as in candidates)
    raise click.ClickException(
        f"the campaign {campaign!r} has no such judge; looked for {tried}. List its judges with: judgestream judges "
        f"{campaign}; for an id, JUDGESTREAM_JUDGE_KEY must be the key of the workers"
    )


NO_KEY = (
    "this is no pseudonym, and without the key of the workers no pseudonym can be made of an id; "
    "set JUDGESTREAM_JUDGE_KEY, or give the pseudonym"
)


def read_as(given: str, settings: Settings) -> Iterator[tuple[str, GivenAs]]:
    """Yield the pseudonyms that a text may mean, the more likely one first."""
    if is_pseudonym(given.removeprefix(MARK)):
        yield given.removeprefix(MARK), "a pseudonym"
    if settings.judge_key and not (given.startswith(MARK) and is_pseudonym(given[1:])):
        yield Pseudonyms(settings.judge_key.encode())[given], "an id"


def look_up(store: Store, campaign: str, pseudonym: str, given_as: GivenAs) -> FoundJudge | None:
    """Return a judge of a campaign, or None. A judge may be known only because they are excluded or retracted."""
    row, meta = store.read_judge(campaign, pseudonym), store.read_meta(campaign)
    excluded = meta is not None and pseudonym in meta.status.excluded
    if row is None and not excluded and (meta is None or pseudonym not in meta.retractions.judges):
        return None
    judgments = 0 if row is None else row.judgments
    return FoundJudge(pseudonym=pseudonym, given_as=given_as, judgments=judgments, excluded=excluded)


def publishing_pseudonyms(settings: Settings) -> Callable[[Judgment], Judgment]:
    """Return the function that replaces the judge of a judgment that is published.

    Without the key of the workers the ids go to Kafka as they are, and one line says so.
    """
    if settings.judge_key:
        return Pseudonyms(settings.judge_key.encode()).replace_judge
    click.echo(
        "judge_key is not set: the ids of judges go to Kafka as they are, and stay in its log (docs/privacy.md)",
        err=True,
    )
    return lambda judgment: judgment
