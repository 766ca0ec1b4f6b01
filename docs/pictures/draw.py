"""Draw the pictures of the docs: python docs/pictures/draw.py."""

from __future__ import annotations

import re
from collections import deque
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from streams.cli.demo_screen import print_comparison
from streams.crowd import WMT13_FR_EN, Competition, Simulation

HERE = Path(__file__).parent


def main() -> None:
    """Draw the end of the demo as it stands on a terminal."""
    simulation = Simulation(Competition.load(WMT13_FR_EN), judges=40, careless=0.2, budget=10_000, seed=1)
    deque(simulation.steps(), maxlen=0)
    console = Console(record=True, width=112, force_terminal=True, color_system="256", file=StringIO(), highlight=False)
    print_comparison(simulation, console)
    picture = console.export_svg(title="judgestream demo", theme=DIMMED_MONOKAI, unique_id="demo")
    # The picture loads nothing from outside: the reader's own monospaced font will do.
    (HERE / "demo.svg").write_text(re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL))


if __name__ == "__main__":
    main()
