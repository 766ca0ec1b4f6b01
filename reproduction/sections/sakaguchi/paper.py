"""Names that all sections of the paper share."""

from __future__ import annotations

KEY = "sakaguchi2014"
WMT13, WMT15 = "wmt13_fr-en_rank.csv.gz", "wmt15_rank.csv.gz"
WINS, HOPKINS_MAY, ONLINE = "expected-wins", "hopkins-may", "trueskill"
THEIR_SAMPLER = "hopkins-may-shift"  # Hopkins and May as this paper fits it; HOPKINS_MAY is the exact posterior
