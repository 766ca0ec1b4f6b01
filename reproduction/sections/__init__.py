"""The sections of the page, paper by paper in its order; a new one is a Section in its paper's file."""

from __future__ import annotations

from reproduction.section import Section
from reproduction.sections import defaults, findings, hopkins_may, otani, sakaguchi

_PAPERS = (sakaguchi, otani, hopkins_may, findings, defaults)

SECTIONS: tuple[Section, ...] = tuple(section for paper in _PAPERS for section in paper.SECTIONS)
# Keys of sections to what the page calls the paper, and what of it can not be shown.
PAPERS: dict[str, tuple[str, str]] = {paper.KEY: (paper.PAPER, paper.NOT_SHOWN) for paper in _PAPERS}

__all__ = ["PAPERS", "SECTIONS", "Section"]
