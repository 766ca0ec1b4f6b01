"""Create and save matplotlib figures in one style. The same content gives the same bytes."""

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
    "svg.hashsalt": "judgestream",  # the same ranking must give the same file
    "svg.fonttype": "none",
}


@contextmanager
def canvas(width: float, height: float, **options: Any) -> Iterator[Figure]:
    """Yield an empty figure to draw on. The size is in inches. This needs the extra `plot`."""
    try:
        matplotlib, module = import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError:
        raise JudgestreamError("a plot needs matplotlib: pip install 'judgestream[plot]'") from None
    with matplotlib.rc_context(_SETTINGS):
        yield module.Figure(figsize=(width, height), **{"layout": "constrained"} | options)


def figure_bytes(drawn: Figure, *, suffix: str) -> bytes:
    """Return a figure as the content of a PNG, SVG or PDF file."""
    content = io.BytesIO()
    stamp = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    with warnings.catch_warnings(), import_module("matplotlib").rc_context(_SETTINGS):
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a name in a script that is not in the font
        drawn.savefig(content, format=suffix.removeprefix("."), dpi=160, metadata=stamp)
    return content.getvalue()
