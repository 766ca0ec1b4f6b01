"""Otani, Nakazawa, Kawahara and Kurohashi (2016): the graded response model."""

from reproduction.papers import read_published
from reproduction.sections.otani import baselines, correlation, gold, items, noise, noise_batch
from reproduction.sections.otani.paper import KEY

PAPER = "Otani, Nakazawa, Kawahara and Kurohashi (2016): the graded response model"
_TABLE6 = read_published("findings2013")
_SHARED = set(_TABLE6["table6"]["systems"]) & set(_TABLE6["table6_es-en"]["systems"])
NOT_SHOWN = (
    "The paper shows Spanish-English, and its other language pairs only in a supplement. That log is not in our data. "
    f"French-English is, with {len(_SHARED)} of the {len(_TABLE6['table6_es-en']['systems'])} systems of "
    "Spanish-English (Table 6 of the findings). Figure 4 plots results by the BLEU and METEOR of the baselines, which "
    "are not in the log of judgments. Table 2 shows translations, which no log has. Figures 1 and 2 need no data."
)
SECTIONS = tuple(part.SECTION for part in (correlation, gold, baselines, noise, noise_batch, items))

__all__ = ["KEY", "NOT_SHOWN", "PAPER", "SECTIONS"]
