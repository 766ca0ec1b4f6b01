"""The sections of the page, in its order; a new one is a Section in its paper's file."""

from __future__ import annotations

from reproduction.section import Section
from reproduction.sections import defaults, findings, hopkins_may, sakaguchi

SECTIONS: tuple[Section, ...] = (
    *sakaguchi.SECTIONS,
    *hopkins_may.SECTIONS,
    *findings.SECTIONS,
    *defaults.SECTIONS,
)

# Keys of sections to what the page calls the paper, and what of it can not be shown.
PAPERS: dict[str, tuple[str, str]] = {
    "sakaguchi2014": (sakaguchi.PAPER, sakaguchi.NOT_SHOWN),
    "hopkins2013": (hopkins_may.PAPER, hopkins_may.NOT_SHOWN),
    "findings2013": (findings.PAPER, findings.NOT_SHOWN),
    "judgestream": (defaults.PAPER, defaults.NOT_SHOWN),
}

__all__ = ["PAPERS", "SECTIONS", "Section"]
