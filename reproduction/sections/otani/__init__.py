"""Otani, Nakazawa, Kawahara and Kurohashi (2016): the graded response model."""

from reproduction.sections.otani import baselines, correlation, items, noise, noise_batch
from reproduction.sections.otani.paper import KEY

PAPER = "Otani, Nakazawa, Kawahara and Kurohashi (2016): the graded response model"
NOT_SHOWN = (
    "The paper shows Spanish-English. That log is not in our data, but French-English is, with most of the same "
    "systems. Figure 4 plots correlation by the BLEU and METEOR of the baselines, which are not in the log of "
    "judgments. The table of baselines uses Expected Wins instead. Table 2 shows translations, which no log has. "
    "Figures 1 and 2 need no data."
)
SECTIONS = tuple(part.SECTION for part in (correlation, baselines, noise, noise_batch, items))

__all__ = ["KEY", "NOT_SHOWN", "PAPER", "SECTIONS"]
