"""What every figure is drawn on and saved by: one look, the same bytes for the same content."""

from __future__ import annotations

import io
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from streams.errors import JudgestreamError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0087d7", "#d75f00", "#8a8f98"
_SETTINGS = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "svg.hashsalt": "judgestream",  # the same ranking gives the same file
    "svg.fonttype": "none",
}


@contextmanager
def canvas(width: float, height: float, **options: Any) -> Iterator[Figure]:
    """Give an empty figure, in inches, to draw on meanwhile; it needs the extra `plot`."""
    try:
        matplotlib, module = import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError:
        raise JudgestreamError("a plot needs matplotlib: pip install 'judgestream[plot]'") from None
    with matplotlib.rc_context(_SETTINGS):
        yield module.Figure(figsize=(width, height), **{"layout": "constrained"} | options)


def figure_bytes(drawn: Figure, *, suffix: str) -> bytes:
    """Give a figure as a file's content: PNG, SVG or PDF."""
    content = io.BytesIO()
    stamp = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    with warnings.catch_warnings(), import_module("matplotlib").rc_context(_SETTINGS):
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a name in a script that the font lacks
        drawn.savefig(content, format=suffix.removeprefix("."), dpi=160, metadata=stamp)
    return content.getvalue()
