"""Judges on the command line: an id or a pseudonym is looked up in the stored state before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.stores import judges

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.settings import Settings
    from streams.stores import Store
    from streams.stores.judges import FoundJudge
    from streams.wire.events import Judgment

NO_KEY = (
    "this is no pseudonym, and without the key of the workers no pseudonym can be made of an id; "
    "set JUDGESTREAM_JUDGE_KEY, or give the pseudonym"
)


def find_judge(store: Store, settings: Settings, campaign: str, given: str, *, unseen: bool = False) -> FoundJudge:
    """Find a judge of a campaign by pseudonym or by id.

    Raise ClickException if the campaign has no such judge. If `unseen` is set, a judge who is not known there is
    returned too.
    """
    if not store.read_head(campaign):
        raise click.ClickException(f"no campaign {campaign!r}; list them with: judgestream campaign show")
    if (found := judges.find_judge(store, campaign, given, settings.judge_key)) is not None:
        return found
    candidates = list(judges.read_as(given, settings.judge_key))
    if not candidates:
        raise click.ClickException(NO_KEY)
    if unseen:
        pseudonym, given_as = candidates[0]
        return judges.FoundJudge(pseudonym=pseudonym, given_as=given_as, judgments=0, excluded=False)
    tried = " and ".join(f"as {given_as} ({pseudonym})" for pseudonym, given_as in candidates)
    raise click.ClickException(
        f"the campaign {campaign!r} has no such judge; looked for {tried}. List its judges with: judgestream judges "
        f"{campaign}; for an id, JUDGESTREAM_JUDGE_KEY must be the key of the workers"
    )


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
