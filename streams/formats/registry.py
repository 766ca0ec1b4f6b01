"""The registry of formats. A new format is one file in this package and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import FormatError, ParameterError, suggestion
from streams.formats import (
    appraise,
    appraise_scores,
    json_lines,
    label_studio,
    metrics_eval,
    mqm,
    parquet,
    pearmut,
    uniform,
    wmt,
    wmt_assessment,
    wmt_humeval,
    wmt_pairs,
)
from streams.formats.input.encodings import find_encoding
from streams.formats.input.head import FileHead
from streams.formats.layouts import LAYOUTS, explain_unusable
from streams.formats.mapping.column_mapping import read_mapping
from streams.formats.mapping.table import mapped_format
from streams.formats.platforms import forms
from streams.formats.reading import Reading
from streams.formats.window import LogWindow
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.formats.base import Format, RowError
    from streams.formats.input.parts import LogSources
    from streams.formats.mapping.column_mapping import Pairs
    from streams.formats.reading import OnError
    from streams.formats.selection import Only
    from streams.formats.window import Bound

FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        json_lines.FORMAT,
        uniform.FORMAT,
        wmt.RANKINGS,
        wmt_pairs.FORMAT,
        wmt_assessment.FORMAT,
        wmt_humeval.FORMAT,
        mqm.FORMAT,
        metrics_eval.FORMAT,
        appraise.FORMAT,
        appraise_scores.FORMAT,
        pearmut.FORMAT,
        label_studio.FORMAT,
        forms.FORMAT,
        *(layout.format() for layout in LAYOUTS),
        parquet.FORMAT,
    )
}


def read(
    source: LogSources,
    *,
    format: str | None = None,  # noqa: A002
    columns: Pairs | None = None,
    values: Pairs = (),
    encoding: str | None = None,
    campaign: str | None = None,
    default_campaign: str | None = None,
    on_error: OnError | Callable[[RowError], None] = "stop",
    shared_ties: bool = True,
    references: bool = True,
    only: Only | None = None,
    since: Bound | None = None,
    until: Bound | None = None,
) -> Reading:
    """Read a log.

    `source` is a path, `-` for standard input, a binary stream, a folder, or several paths. Files may be plain or
    compressed (gzip, zstd, bzip2, xz), and in a zip archive.

    `format` is the name of a format. By default the format is recognised by the content.
    `columns` maps the columns of any table, for example "a=system_1,b=system_2,winner=preferred", and `values` the
    values of its verdicts, for example "a=left,b=right,tie=both"; both may be dictionaries (see docs/formats.md).
    `encoding` is that of the text, by default UTF-8 or UTF-16.
    `campaign` replaces the campaign name of the file, and `default_campaign` is that of a file that names none.
    `on_error` decides what happens to a bad row: "stop" raises it, "skip" counts it, and a function is called with it.
    With `shared_ties=False`, systems that shared an output are not compared with each other.
    With `references=False`, human references in files of scores are left out.
    `only` selects a part of the log, for example {"source": "researcher"}; see `LogSelection`.
    `since` and `until` select a part by time, or by the number of judgments; see `LogWindow`.
    """
    for name in (campaign, default_campaign):
        if name is not None and not is_campaign_name(name):
            raise ParameterError(f"{name!r} is not a campaign name; {CAMPAIGN_RULE}, for example wmt13.fr-en")
    if columns and format is not None:
        raise ParameterError("choose a format or name the columns, not both")
    if values and not columns:
        raise ParameterError("values need columns: name the columns too, for example a=model_a,b=model_b,winner=winner")
    known = find_format(format) if format is not None else None
    if columns:
        known = mapped_format(read_mapping(columns, values))
    return Reading(
        source,
        lambda found: known or recognise(found.head, name=found.name),
        campaign=campaign,
        default_campaign=default_campaign,
        encoding=None if encoding is None else find_encoding(encoding),
        on_error=on_error,
        shared_ties=shared_ties,
        references=references,
        only=only,
        window=LogWindow.of(since, until),
    )


def recognise(head: bytes, *, name: str = "the log") -> Format:
    """Return the format of a log. `head` is its first bytes, decompressed."""
    seen = FileHead(head)
    for known in FORMATS.values():
        if known.recognises(seen):
            return known
    from streams.formats.mapping.unknown_tables import explain_unknown

    unknown = explain_unknown(head, name=name, formats=FORMATS)
    likely = next((layout.name for layout in LAYOUTS if layout.recognises(seen.columns | seen.keys)), None)
    if likely and unknown.mapping is None:  # its rows say what is missing
        return FORMATS[likely]
    names_systems = unknown.mapping is not None and "loser" in unknown.mapping.columns
    if not names_systems and (reason := explain_unusable(seen.columns | seen.keys)):
        raise FormatError(f"{name}: {reason}")
    raise unknown


def find_format(name: str) -> Format:
    """Return the format with this name."""
    if name not in FORMATS:
        raise ParameterError(f"no format {name!r}; {suggestion(name, FORMATS)}")
    return FORMATS[name]
