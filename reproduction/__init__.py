"""The papers' tables and figures beside ours: `python -m reproduction` runs the experiments and writes the page."""
