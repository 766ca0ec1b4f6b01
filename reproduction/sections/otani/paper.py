"""Names that all sections of the paper share."""

from __future__ import annotations

KEY = "otani2016"
WMT13 = "wmt13_fr-en_rank.csv.gz"
