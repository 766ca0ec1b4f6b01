"""The registry of formats. A new format is one file in this package and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import FormatError, ParameterError, suggestion
from streams.formats import appraise, arena, json_lines, label_studio, parquet, uniform, wmt
from streams.formats.input.head import FileHead
from streams.formats.reading import Reading
from streams.formats.window import LogWindow
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

    from streams.formats.base import Format, RowError
    from streams.formats.reading import OnError
    from streams.formats.selection import Only
    from streams.formats.window import Bound

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
    only: Only | None = None,
    since: Bound | None = None,
    until: Bound | None = None,
) -> Reading:
    """Read a log.

    `source` is a path, `-` for standard input, or a binary stream. It may be plain, gzip or zstd.

    `format` is the name of a format. By default the format is recognised by the content.
    `campaign` replaces the campaign name of the file.
    `on_error` decides what happens to a bad row: "stop" raises it, "skip" counts it, and a function is called with it.
    With `shared_ties=False`, systems that shared an output are not compared with each other.
    `only` selects a part of the log, for example {"source": "researcher"}; see `LogSelection`.
    `since` and `until` select a part by time, or by the number of judgments; see `LogWindow`.
    """
    if campaign is not None and not is_campaign_name(campaign):
        raise ParameterError(f"{campaign!r} is not a campaign name; {CAMPAIGN_RULE}, for example wmt13.fr-en")
    known = find_format(format) if format is not None else None
    return Reading(
        source,
        lambda found: known or recognise(found.head, name=found.name),
        campaign=campaign,
        on_error=on_error,
        shared_ties=shared_ties,
        only=only,
        window=LogWindow.of(since, until),
    )


def recognise(head: bytes, *, name: str = "the log") -> Format:
    """Return the format of a log. `head` is its first bytes, decompressed."""
    seen = FileHead(head)
    for known in FORMATS.values():
        if known.recognises(seen):
            return known
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(f"{name}: the file is in UTF-16; save it as UTF-8")
    if not head.strip():
        raise FormatError(f"{name}: the file is empty, so its format is unknown; name the format to read it anyway")
    raise FormatError(
        f"{name}: unknown format; {_describe(head)}. If it is one of {', '.join(FORMATS)}, name the format"
    )


def _describe(head: bytes) -> str:
    """Return how a file begins, without its text, which may hold the id of a judge.

    >>> _describe(b"anna,a,b")
    "the file begins with 'a', and its first line has 2 commas"
    """
    try:
        text = head[:40].decode()
    except UnicodeDecodeError as error:
        text = head[: error.start].decode() if error.start > 40 - 4 else "\0"  # the last character may be cut
    if "\0" in text:
        return f"the file is binary and begins with the bytes {head[:8].hex(' ')}"
    line = head.partition(b"\n")[0].decode(errors="replace")
    counts = {"commas": line.count(","), "tabs": line.count("\t"), "semicolons": line.count(";")}
    separators = " and ".join(f"{count} {name}" for name, count in counts.items() if count) or "no separators"
    return f"the file begins with {quote(text[0])}, and its first line has {separators}"


def find_format(name: str) -> Format:
    """Return the format with this name."""
    if name not in FORMATS:
        raise ParameterError(f"no format {name!r}; {suggestion(name, FORMATS)}")
    return FORMATS[name]
