"""Make campaign names and judgment ids for files that have none."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING

from streams.errors import FormatError, RecordError
from streams.wire.campaign_names import CAMPAIGN_RULE, replace_forbidden, to_campaign_name
from streams.wire.decoding import quote
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from streams.formats.base import ImportRun

ANONYMOUS = "anonymous"  # a judge who is not named
UNSPECIFIED = "unspecified"  # a segment that is not named

_SUFFIX = re.compile(r"\.(gz|zst|bz2|xz|zip|csv|tsv|txt|xml|json|jsonl|ndjson|parquet|xlsx)$", re.IGNORECASE)
_YEAR = re.compile(r"(?:[a-z]+20|wmt)(\d\d)\.")

# The languages of the WMT campaigns, and their names and codes in the files.
_LANGUAGES = {
    "ar": ("arabic", "ara", "arb"),
    "bn": ("bengali", "ben"),
    "cs": ("czech", "ces", "cze"),
    "de": ("german", "deu", "ger"),
    "en": ("english", "eng"),
    "es": ("spanish", "spa"),
    "et": ("estonian", "est"),
    "fi": ("finnish", "fin"),
    "fr": ("french", "fra", "fre"),
    "gu": ("gujarati", "guj"),
    "ha": ("hausa", "hau"),
    "he": ("hebrew", "heb"),
    "hi": ("hindi", "hin"),
    "hr": ("croatian", "hrv"),
    "ht": ("haitian", "hat"),
    "hu": ("hungarian", "hun"),
    "is": ("icelandic", "isl", "ice"),
    "it": ("italian", "ita"),
    "iu": ("inuktitut", "iku"),
    "ja": ("japanese", "jpn"),
    "kk": ("kazakh", "kaz"),
    "km": ("khmer", "khm"),
    "ko": ("korean", "kor"),
    "lt": ("lithuanian", "lit"),
    "lv": ("latvian", "lav"),
    "pl": ("polish", "pol", "plk"),
    "ps": ("pashto", "pus"),
    "pt": ("portuguese", "por"),
    "ro": ("romanian", "ron", "rum"),
    "ru": ("russian", "rus"),
    "sr": ("serbian", "srp"),
    "ta": ("tamil", "tam"),
    "tr": ("turkish", "tur"),
    "uk": ("ukrainian", "ukr"),
    "xh": ("xhosa", "xho"),
    "zh": ("chinese", "zho", "chi"),
    "zu": ("zulu", "zul"),
}
_CODES = {name: code for code, names in _LANGUAGES.items() for name in names}


@lru_cache(maxsize=1000)
def language_pair(source: str, target: str) -> str:
    """Return the code of a language pair.

    >>> language_pair("French", "eng")
    'fr-en'
    """
    for name in (source, target):
        if len(name) > MAX_NAME:  # it would be kept in the cache
            raise RecordError("invalid_value", f"a language of {len(name):,} characters: {quote(name)}")
    return "-".join(
        _CODES.get(name.strip().lower(), replace_forbidden(name.strip().lower())) for name in (source, target)
    )


def wmt_campaign(systems: list[str]) -> str | None:
    """Return the WMT campaign of these systems, or None if no name contains a year.

    >>> wmt_campaign(["_ref", "newstest2013.fr-en.cu-zeman.2738"])
    'wmt13'
    """
    return next((f"wmt{found[1]}" for system in systems if (found := _YEAR.match(system))), None)


def campaign_name(run: ImportRun, *, in_file: str | None = None, pair: str | None = None) -> str:
    """Return the name of the campaign: the requested one, else the one in the file, else the name of the file.

    Characters that a campaign name may not have become `-`.
    """
    name = run.campaign or (clean_campaign(in_file) if in_file else run.default_campaign) or _stem(run.file)
    if not pair:
        return name
    pair = replace_forbidden(pair)
    if run.campaign or run.default_campaign == name:
        return name if name.endswith(f".{pair}") else f"{name}.{pair}"
    return f"{name if in_file else name.partition(f'.{pair}')[0]}.{pair}"


def default_campaign(folder: str) -> str | None:
    """Return the campaign of the files in a folder or an archive, or None if no name can be made of it."""
    return to_campaign_name(_without_suffixes(folder)) or None


def judge_name(text: str) -> str:
    """Return the name of a judge, which is `anonymous` if the cell is empty."""
    return text or ANONYMOUS


def segment_name(text: str) -> str:
    """Return the name of a segment, which is `unspecified` if the cell is empty."""
    return text or UNSPECIFIED


def content_id(number: int, *content: str) -> str:
    """Return an id for row `number` of a file. The same content in the same row has the same id.

    >>> content_id(7, "wmt13.fr-en", "judge1", "a", "b", "1", "2")
    '7-633ec69140d54ea3'
    """
    return f"{number}-{_digest('|'.join(content))}"


def shorten_name(text: str) -> str:
    """Shorten a text that is too long for a name. A hash of the whole text keeps it unique."""
    return text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 17]}-{_digest(text)}"


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


@lru_cache(maxsize=1000)
def clean_campaign(name: str) -> str:
    """Return the name of a campaign in a file as one that is allowed: other characters become `-`."""
    cleaned = to_campaign_name(name) if len(name) <= MAX_NAME else ""  # what is longer would be kept in the cache
    if not cleaned:
        raise RecordError("invalid_value", f"{quote(name)}: {CAMPAIGN_RULE}; use --campaign", field="campaign")
    return cleaned


@lru_cache(maxsize=100)
def _stem(file: str) -> str:
    cleaned = to_campaign_name(_without_suffixes(PurePath(file).name))
    if not cleaned:
        raise FormatError(f"{file}: the log does not say which campaign this is; name it with --campaign")
    return cleaned


def _without_suffixes(name: str) -> str:
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    return name
