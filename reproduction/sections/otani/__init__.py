"""Otani, Nakazawa, Kawahara and Kurohashi (2016): the graded response model."""

from reproduction.sections.otani import baselines, correlation, items, noise, noise_batch
from reproduction.sections.otani.paper import KEY

PAPER = "Otani, Nakazawa, Kawahara and Kurohashi (2016): the graded response model"
NOT_SHOWN = (
    "The paper prints Spanish-English; that log is not in our data, French-English is, with most of the same systems. "
    "Figure 4 plots correlation over the baselines' BLEU and METEOR, which are in no log of judgments: the table of "
    "baselines takes Expected Wins instead. Table 2 is translations, which no log has. Figures 1 and 2 rest on no data."
)
SECTIONS = tuple(part.SECTION for part in (correlation, baselines, noise, noise_batch, items))

__all__ = ["KEY", "NOT_SHOWN", "PAPER", "SECTIONS"]
