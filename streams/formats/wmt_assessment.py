"""Read the direct assessments of WMT16 to WMT22: `ad-*-good-stnd.csv` with z-scores, and raw files of this kind.

In most files the header is separated by spaces and the rows by tabs. Rows of one kind may also mix both. A file that
somebody has saved again has commas, semicolons or tabs in all lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import FormatError, RecordError
from streams.formats.base import Format
from streams.formats.input.lines import first_lines, read_lines, split_csv
from streams.formats.names import ANONYMOUS, campaign_name, language_pair
from streams.formats.rankings import parse_number
from streams.formats.scores import AGGREGATED, Score, make_scores
from streams.formats.validation import row_reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from streams.formats.base import ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_REQUIRED = ("sys_id", "type", "sid", "score")
_MEANS = ("sys", "sid", "raw.scr", "z.scr")  # of a segment: `ad-seg-scores-*.csv`
_RATED = ("SYSTEM", "REPEAT")  # the official means are of both
_HIGHEST = 100.0  # raw score


def _delimiter(header: str) -> str | None:
    """Return the delimiter of a table that was saved again, or None if spaces and tabs may be mixed."""
    return next((each for each in ",;" if each in header), "\t" if header.startswith("\t") else None)


def _names(line: str) -> list[str]:
    try:
        names = split_csv(line, delimiter) if (delimiter := _delimiter(line)) else line.split()
    except RecordError:
        return []
    return [name.strip('" ').lower() for name in names]


def _read_rows(source: Source, run: ImportRun) -> Iterator[tuple[int, Mapping[str, str] | RecordError]]:
    lines = read_lines(source)
    _, header = next(lines, (1, ""))
    names = _names(header) if isinstance(header, str) else []
    if missing := [name for name in (_MEANS if "z.scr" in names else _REQUIRED) if name not in names]:
        raise FormatError(f"{run.file}:1: no column {', '.join(missing)}; this is not a direct assessment of WMT")
    delimiter = _delimiter(str(header))
    for line, text in lines:
        if isinstance(text, RecordError):
            yield line, text
            continue
        try:
            cells = split_csv(text, delimiter) if delimiter else text.split("\t")
        except RecordError as error:
            yield line, error
            continue
        if len(cells) != len(names) and not delimiter:
            cells = text.split()
        if len(cells) != len(names):
            reason = f"{len(cells)} cells, but the header has {len(names)}"
            yield line, RecordError("length_mismatch", reason)
        else:
            yield line, dict(zip(names, (cell.strip().strip('"') for cell in cells), strict=True))


def _to_judgments(row: Mapping[str, str], number: int, run: ImportRun) -> list[Judgment]:
    if "z.scr" in row:
        run.summary.scale = "raw"
        return make_scores(
            run,
            number,
            Score(
                system=row["sys"],
                score=parse_number(row["z.scr"], field="Z.SCR"),
                campaign=campaign_name(run),
                segment=row["sid"],
                judge=AGGREGATED,
            ),
        )
    if row["type"] not in _RATED:
        run.leave_out(f"a control ({row['type'][:20]})")
        return []
    score = parse_number(row["score"], field="score")
    # Raw scores are whole numbers from 0 to 100. Others were standardised, and nobody may do so again.
    if not (score.is_integer() and 0.0 <= score <= _HIGHEST):
        run.summary.scale = "raw"
    elif run.summary.scale is None:
        run.summary.scale = "z"
    return make_scores(
        run,
        number,
        Score(
            system=row["sys_id"],
            score=score,
            campaign=campaign_name(run, pair=_pair(row)),
            segment=row["sid"],
            judge=row.get("workerid") or ANONYMOUS,
        ),
    )


def _pair(row: Mapping[str, str]) -> str | None:
    source, target = row.get("input.src"), row.get("input.trg")
    return language_pair(source, target) if source and target else None


def _recognise(head: FileHead) -> bool:
    names = [name for line in first_lines(head, most=1) for name in _names(line)]
    return all(name in names for name in _REQUIRED) or all(name in names for name in _MEANS)


FORMAT = Format(
    "wmt-assessment",
    "WMT's direct assessments by crowd workers: z-scores or raw scores",
    _recognise,
    row_reader(_read_rows, _to_judgments),
)
