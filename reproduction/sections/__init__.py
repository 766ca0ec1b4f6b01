"""The sections of the page, in the order of the papers. To add one, add a Section to the file of its paper."""

from __future__ import annotations

from reproduction.section import Section
from reproduction.sections import defaults, findings, hopkins_may, otani, sakaguchi

_PAPERS = (sakaguchi, otani, hopkins_may, findings, defaults)

SECTIONS: tuple[Section, ...] = tuple(section for paper in _PAPERS for section in paper.SECTIONS)
# Key of a paper to its name on the page, and to what cannot be shown of it.
PAPERS: dict[str, tuple[str, str]] = {paper.KEY: (paper.PAPER, paper.NOT_SHOWN) for paper in _PAPERS}

__all__ = ["PAPERS", "SECTIONS", "Section"]
