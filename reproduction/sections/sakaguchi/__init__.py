"""Sakaguchi, Post and Van Durme (2014): TrueSkill for WMT."""

from reproduction.sections.sakaguchi import clusters, prediction, prediction_wmt15, printed, ranking, selection, ways
from reproduction.sections.sakaguchi.paper import KEY

PAPER = "Sakaguchi, Post and Van Durme (2014): TrueSkill"
NOT_SHOWN = (
    "Tables 2 to 4 and Figures 3 and 4 are means over the ten language pairs of WMT13. Our data has only one of them, "
    "French-English. Figures 1 and 2 show the update functions and need no data."
)
SECTIONS = tuple(part.SECTION for part in (ranking, prediction, prediction_wmt15, ways, selection, clusters, printed))

__all__ = ["KEY", "NOT_SHOWN", "PAPER", "SECTIONS"]
