"""The quarantine of a campaign: a part of its status, and the words for it."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

LONGEST_ERROR = 300
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


Cause = Literal["fault", "corrupt", "outdated", "retraction"]


class Quarantine(Struct, frozen=True, kw_only=True):
    """Why a campaign is not rated now. Its records wait in the log.

    The cause is an unexpected error in the code (`fault`), a stored state that is damaged, incomplete or older than it
    should be (`corrupt`), a state that an earlier version stored without something that is needed now (`outdated`),
    or a `retraction`, a suspension or its end, after which the campaign is rated again.
    """

    offset: Annotated[int, Meta(ge=0, description="Records of the campaign from this offset on wait in the log.")]
    error: Annotated[str, Meta(description="The error and the line of code. The worker's log has the traceback.")]
    cause: Annotated[Cause, Meta(description="If it is not `fault`, a worker rates the campaign again by itself.")] = (
        "fault"
    )

    @property
    def is_rated_again(self) -> bool:
        """Whether nothing is wrong: a worker rates the campaign again, and then the quarantine ends."""
        return self.cause in {"retraction", "outdated"}


def describe_error(error: BaseException) -> str:
    """Return the type, the message and the line of code of an error, the same in every process.

    >>> describe_error(ValueError("no number at 0x7f3a"))
    'ValueError: no number at 0x...'
    """
    trace, place = error.__traceback__, ""
    while trace is not None:
        place = f", in {trace.tb_frame.f_globals.get('__name__', '?')}, line {trace.tb_lineno}"
        trace = trace.tb_next
    message = " ".join(ADDRESS.sub("0x...", str(error)).split())
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text[:LONGEST_ERROR] + place


def describe_quarantine(campaign: str, quarantine: Quarantine) -> str:
    """Return what happened to a campaign, and what to do."""
    held = f"Its records from offset {quarantine.offset} on wait in the log"
    if quarantine.cause == "retraction":
        return (
            f"the campaign {campaign!r} is being rated again without what is left out now ({quarantine.error}). "
            f"{held} until that is done"
        )
    if quarantine.cause == "outdated":
        return (
            f"the campaign {campaign!r} is being rated again from its log, because an earlier version stored it "
            f"({quarantine.error}). {held} until that is done"
        )
    if quarantine.cause == "corrupt":
        return (
            f"the stored state of the campaign {campaign!r} is corrupt ({quarantine.error}). A worker rates it again "
            f"from its log. {held} until that is done. If it does not end, run: judgestream rebuild {campaign}"
        )
    return (
        f"the campaign {campaign!r} is quarantined after an unexpected error ({quarantine.error}). "
        f"{held}. {way_out(campaign)}"
    )


def quarantine_label(quarantine: Quarantine) -> str:
    """Return the state of a campaign that is not rated now, in a word or two.

    >>> quarantine_label(Quarantine(offset=4, error="the command at offset 4", cause="retraction"))
    'rated again'
    """
    if quarantine.is_rated_again:
        return "rated again"
    return "corrupt" if quarantine.cause == "corrupt" else "quarantined"


def way_out(campaign: str) -> str:
    """Return how to end a quarantine after an unexpected error."""
    return f"Update Judgestream, then run: judgestream rebuild {campaign}"
