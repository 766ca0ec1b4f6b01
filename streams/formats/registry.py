"""The formats that are known, by name: a new one is its file and its line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import FormatError, ParameterError, suggestion
from streams.formats import appraise, arena, json_lines, label_studio, parquet, uniform, wmt
from streams.formats.input.head import FileHead
from streams.formats.reading import Reading
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

    from streams.formats.base import Format, RowError
    from streams.formats.reading import OnError

FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        json_lines.FORMAT,
        uniform.FORMAT,
        wmt.RANKINGS,
        wmt.PAIRS,
        appraise.FORMAT,
        arena.FORMAT,
        label_studio.FORMAT,
        parquet.FORMAT,
    )
}


def read(
    source: Path | str | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002
    campaign: str | None = None,
    on_error: OnError | Callable[[RowError], None] = "stop",
    shared_ties: bool = True,
) -> Reading:
    """Read a log: a path, `-` for standard input, or a binary stream; plain, gzip or zstd.

    Without a `format` its content tells it. `campaign` names the campaign, whatever the file calls it. A bad row is
    raised (`stop`), counted in the summary (`skip`), or counted and given to the function that `on_error` is. Without
    `shared_ties` systems that shared an output are not compared with each other.
    """
    if campaign is not None and not is_campaign_name(campaign):
        raise ParameterError(f"the campaign is {campaign!r}; {CAMPAIGN_RULE}, e.g. wmt13.fr-en")
    if format is not None:
        known = find_format(format)
        return Reading(source, lambda _: known, campaign=campaign, on_error=on_error, shared_ties=shared_ties)
    return Reading(
        source,
        lambda found: recognise(found.head, name=found.name),
        campaign=campaign,
        on_error=on_error,
        shared_ties=shared_ties,
    )


def recognise(head: bytes, *, name: str = "the log") -> Format:
    """Tell the format of a log from its first bytes, decompressed."""
    seen = FileHead(head)
    for known in FORMATS.values():
        if known.recognises(seen):
            return known
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(f"{name}: it is in UTF-16; save it as UTF-8")
    if not head.strip():
        raise FormatError(f"{name}: it is empty; name its format, if that is right")
    begins = quote(head[:40].decode(errors="replace"))
    raise FormatError(
        f"{name}: it begins with {begins}, like no known format; if it is one of {', '.join(FORMATS)}, name it"
    )


def find_format(name: str) -> Format:
    """Find a format."""
    if name not in FORMATS:
        raise ParameterError(f"no format {name!r}; {suggestion(name, FORMATS)}")
    return FORMATS[name]
