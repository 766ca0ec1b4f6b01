"""Write reproduction/README.md from the results in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reproduction.claims import claims_table, count_verdicts
from reproduction.papers import cite
from reproduction.section import fill_text
from reproduction.sections import PAPERS, SECTIONS
from reproduction.stored import read_results
from streams.lab.experiments import ResultTable

if TYPE_CHECKING:
    from reproduction.section import Section

HERE = Path(__file__).parent


def build_page() -> str:
    """Return the page, with the sections of each paper."""
    parts = [fill_text("head"), _summary()]
    for paper, (name, not_shown) in PAPERS.items():
        parts.append(f"## {name}\n")
        parts += [_section(section) for section in SECTIONS if section.paper == paper]
        if not_shown:
            parts.append(f"**Not shown.** {cite(not_shown)}\n")
    return "\n".join(parts)


def _summary() -> str:
    """Return the number of statements by paper and verdict."""
    rows: list[tuple[str | int, ...]] = []
    for paper, (name, _) in PAPERS.items():
        claims = [
            claim
            for section in SECTIONS
            if section.paper == paper
            for claim in section.claims(read_results(section.name).results)
        ]
        if claims:
            counts = count_verdicts(claims)
            rows.append((name, len(claims), *counts.values()))
    columns = ("paper", "comparisons", *counts)
    table = ResultTable(title="", columns=columns, rows=tuple(rows))
    return table.markdown()


def _section(section: Section) -> str:
    results = read_results(section.name)
    head = results.head
    parts = [f"### {section.title}\n", section.text(results.results).rstrip() + "\n"]
    claims = section.claims(results.results)
    for table in [*([claims_table(claims)] if claims else []), *section.tables(results.results)]:
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
