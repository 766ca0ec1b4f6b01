"""The sections of the page, in its order; a new one is a Section in its paper's file."""

from __future__ import annotations

from reproduction.section import Section
from reproduction.sections import sakaguchi

SECTIONS: tuple[Section, ...] = (*sakaguchi.SECTIONS,)

# Keys of sections to what the page calls the paper, and what of it can not be shown.
PAPERS: dict[str, tuple[str, str]] = {
    "sakaguchi2014": (sakaguchi.PAPER, sakaguchi.NOT_SHOWN),
}

__all__ = ["PAPERS", "SECTIONS", "Section"]
