"""Names that all sections of the paper share, and the error of its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.claims import Claim, error_of_runs
from reproduction.papers import read_published
from streams.lab.experiments import Estimate

if TYPE_CHECKING:
    from reproduction.claims import Expected

KEY = "sakaguchi2014"
WMT13, WMT15 = "wmt13_fr-en_rank.csv.gz", "wmt15_rank.csv.gz"
WINS, HOPKINS_MAY, ONLINE = "expected-wins", "hopkins-may", "trueskill"
THEIR_SAMPLER = "hopkins-may-shift"  # Hopkins and May as this paper fits it; HOPKINS_MAY is the exact posterior
NAMES = {
    WINS: "Expected Wins",
    HOPKINS_MAY: "Hopkins and May (exact)",
    THEIR_SAMPLER: "Hopkins and May",
    "trueskill-selects": "TrueSkill",
}


def claim(
    quote: str,
    measured: str,
    expected: Expected,
    ours: Estimate,
    *,
    theirs: float | None = None,
    digits: int = 3,
) -> Claim:
    """Return a statement of the paper.

    The paper gives no errors. Its numbers are means over ten language pairs. The error is estimated as that of a mean
    of ten runs, one per language pair, that vary as much as our repeats.
    """
    published = None
    if theirs is not None:
        pairs = read_published(KEY)["setup"]["language_pairs"]
        published = Estimate(theirs, error_of_runs(ours, pairs), pairs)
    return Claim(
        paper=KEY, quote=quote, measured=measured, expected=expected, ours=ours, theirs=published, digits=digits
    )
