"""The lab: the papers' models and measures as pure functions, to judge the product's own models by."""

from streams.core.methods.pairs import LOSS, TIE, WIN, Pairs

__all__ = ["LOSS", "TIE", "WIN", "Pairs"]
