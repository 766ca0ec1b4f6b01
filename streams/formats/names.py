"""Make campaign names and judgment ids for files that have none."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING

from streams.errors import FormatError, RecordError
from streams.wire.campaign_names import replace_forbidden, to_campaign_name
from streams.wire.decoding import quote
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from streams.formats.base import ImportRun

ANONYMOUS = "anonymous"
UNSPECIFIED = "unspecified"

_SUFFIX = re.compile(r"\.(gz|zst|csv|tsv|xml|json|jsonl|ndjson|parquet)$", re.IGNORECASE)
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
    """Return the name of the campaign: the requested one, else the one in the file, else the name of the file."""
    if run.campaign:
        return run.campaign if not pair or run.campaign.endswith(f".{pair}") else f"{run.campaign}.{pair}"
    if not pair:
        return in_file or _stem(run.file)
    return f"{in_file or _stem(run.file).partition(f'.{pair}')[0]}.{pair}"


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


@lru_cache(maxsize=100)
def _stem(file: str) -> str:
    name = PurePath(file).name
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    cleaned = to_campaign_name(name)
    if not cleaned:
        raise FormatError(f"{file}: it is not known which campaign this is; name the campaign")
    return cleaned
