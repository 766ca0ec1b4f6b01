"""Write reproduction/README.md from the results in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reproduction.sections import PAPERS, SECTIONS
from reproduction.stored import read_results

if TYPE_CHECKING:
    from reproduction.section import Section

HERE = Path(__file__).parent
HEAD = """# The papers' tables and figures beside ours

`make reproduction` runs every experiment on the public logs and writes this page. `python -m reproduction --page`
writes only the page, from the stored [results](results). The number after ± is one standard error over repeats. You
can run all experiments on any log: see [the lab](../docs/lab.md).

"Theirs" are the numbers of the paper. "Ours" are the numbers of this project.
"""


def build_page() -> str:
    """Return the page, with the sections of each paper."""
    parts = [HEAD]
    for paper, (name, not_shown) in PAPERS.items():
        parts.append(f"## {name}\n")
        parts += [_section(section) for section in SECTIONS if section.paper == paper]
        if not_shown:
            parts.append(f"**Not shown.** {not_shown}\n")
    return "\n".join(parts)


def _section(section: Section) -> str:
    results = read_results(section.name)
    head = results.head
    parts = [f"### {section.title}\n", section.text(results.results).rstrip() + "\n"]
    for table in section.tables(results.results):
        parts += [f"**{table.title}**\n", table.markdown()]
    if section.caption:
        parts.append(f"![{section.caption}](figures/{section.name}.svg)\n")
    repeats = head.options["repeats"]
    parts.append(
        f"<sub>`{head.experiment}` on {head.log.file} ({head.log.rankings:,} rankings, sha256 {head.log.sha256[:12]}), "
        f"{repeats} repeat{'s' * (repeats > 1)}, seed {head.options['seed']}: "
        f"[results](results/{section.name}.jsonl) of `python -m reproduction --only {section.name}`</sub>\n"
    )
    return "\n".join(parts)
