"""Names that all sections of the paper share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.claims import Claim
from streams.lab.experiments import Estimate

if TYPE_CHECKING:
    from reproduction.claims import Expected

KEY = "otani2016"
WMT13 = "wmt13_fr-en_rank.csv.gz"
WINS, HOPKINS_MAY, ONLINE, BATCH, TWO_STAGE = (
    *("expected-wins", "hopkins-may", "grm"),
    *("grm-batch", "two-stage"),
)
THEIR_SAMPLER = "hopkins-may-shift"  # Hopkins and May as Sakaguchi et al. (2014) fit it


def claim(
    quote: str, measured: str, expected: Expected, ours: Estimate, *, theirs: float | None = None, digits: int = 3
) -> Claim:
    """Return a statement of the paper. It gives no errors, nor the number of runs to estimate them from."""
    published = None if theirs is None else Estimate(theirs, None, 1)
    return Claim(
        paper=KEY, quote=quote, measured=measured, expected=expected, ours=ours, theirs=published, digits=digits
    )
