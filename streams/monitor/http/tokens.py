"""Tokens: what the holder of each may do. An entry of the setting has the hash of a secret, never the secret."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Literal, get_args

from streams.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

log = logging.getLogger(__name__)

Scope = Literal["read", "judge", "publish", "operate"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
SHORTEST_SECRET = 16
SECRET_BYTES = 32
FORM = "NAME:SCOPES:CAMPAIGNS:HASH"
ALGORITHM = "sha256-"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PATTERN = re.compile(r"[A-Za-z0-9._*?-]{1,300}")  # the characters of a campaign's name, and the wildcards
_HASH = re.compile(rf"{ALGORITHM}[0-9a-f]{{64}}")


@dataclass(frozen=True)
class Token:
    """The scopes of a token, and the patterns of the campaigns to which they apply.

    >>> Token("platform", frozenset({"publish"}), ("wmt26.*",)).covers("wmt26.de-en")
    True
    """

    name: str
    scopes: frozenset[str]
    campaigns: tuple[str, ...]
    hash: str = ""

    def covers(self, campaign: str) -> bool:
        """Return whether a campaign matches one of the patterns."""
        return any(fnmatchcase(campaign, pattern) for pattern in self.campaigns)


def new_secret() -> str:
    """Return a secret with 256 random bits."""
    return f"jst_{token_urlsafe(SECRET_BYTES)}"


def hash_of(secret: str) -> str:
    """Return the hash of a secret, as it stands in an entry.

    >>> hash_of("test")[:15]
    'sha256-9f86d081'
    """
    return ALGORITHM + sha256(secret.encode(errors="replace")).hexdigest()


def entry_of(name: str, secret: str, *, scopes: Iterable[str] = SCOPES, campaigns: Iterable[str] = ("*",)) -> str:
    """Return the entry of a token. Raise SettingError if one of its parts is not valid."""
    if len(secret) < SHORTEST_SECRET or not secret.isascii() or not secret.isprintable():
        raise SettingError(
            f"the secret of {name!r} needs at least {SHORTEST_SECRET} printable ASCII characters from a random "
            "generator; without --secret a good one is made"
        )
    entry = ":".join((name, "+".join(scopes), "+".join(campaigns), hash_of(secret)))
    parse_tokens(entry, place="token")
    return entry


def parse_tokens(text: str, *, place: str = "monitor_tokens") -> dict[str, Token]:
    """Return the tokens of a list of entries, by hash. A name may have several, so that a secret can be replaced."""
    tokens: dict[str, Token] = {}
    for number, entry in enumerate(_entries(text), 1):
        token = _token(entry, place=f"{place}: entry {number}")
        if token.hash in tokens:
            names = f"{tokens[token.hash].name!r} and {token.name!r}"
            raise SettingError(f"{place}: {names} have the same secret; give each token its own")
        tokens[token.hash] = token
    return tokens


def _entries(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for part in line.partition("#")[0].split(","):
            if entry := part.strip():
                yield entry


def _token(entry: str, *, place: str) -> Token:
    """Return the token of one entry. An error shows no part of it that may be a secret."""
    name, *rest = (part.strip() for part in entry.split(":"))
    if not rest or not _NAME.fullmatch(name):
        raise SettingError(f"{place} must be {FORM}, with a name of letters, digits, '-' and '_'. {_way_out('NAME')}")
    if len(rest) != 3 or not _HASH.fullmatch(rest[2]):
        raise SettingError(f"{place}, of {name!r}, must be {FORM}: it has the hash of a secret. {_way_out(name)}")
    scopes, campaigns = (tuple(filter(None, part.split("+"))) for part in rest[:2])
    if not scopes or not set(scopes) <= set(SCOPES):
        raise SettingError(f"{place}, of {name!r}: the scopes must be some of {', '.join(SCOPES)}, joined by '+'")
    if not campaigns or not all(map(_PATTERN.fullmatch, campaigns)):
        raise SettingError(
            f"{place}, of {name!r}: the campaigns must be names or patterns such as wmt26.*, joined by '+'; "
            "* stands for all"
        )
    return Token(name, frozenset(scopes), campaigns, rest[2])


def _way_out(name: str) -> str:
    return (
        f"Make an entry with a new secret: judgestream token {name} --scope publish. "
        "To keep a secret that clients have already, add --secret - and type it"
    )


class TokenList:
    """The tokens in force. If they are in a file, it is read again when it has changed."""

    def __init__(self, setting: str) -> None:
        self._file = Path(setting[1:]) if setting.startswith("@") else None
        self._version: tuple[int, ...] | None = None
        self._problem = ""
        self._tokens: dict[str, Token] = {} if self._file else parse_tokens(setting)
        if self._file is not None:
            self._read(self._file)

    def __len__(self) -> int:
        return len(self._tokens)

    def find(self, secret: str) -> Token | None:
        """Return the token with this secret. The time it takes depends on the hash only, which tells nothing."""
        return self._tokens.get(hash_of(secret))

    def by_hash(self, value: str) -> Token | None:
        """Return the token with this hash."""
        return self._tokens.get(value)

    def refresh(self) -> None:
        """Read the file again if it has changed. If it is not valid, log why and keep the tokens."""
        if self._file is None:
            return
        try:
            self._read(self._file)
            self._problem = ""
        except SettingError as error:
            if str(error) != self._problem:
                self._problem = str(error)
                log.error("%s; the tokens stay as they were", error)

    def _read(self, file: Path) -> None:
        try:
            status = file.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if version == self._version:
                return
            self._version, text = version, file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SettingError(f"monitor_tokens: {file} can't be read: {reason}") from None
        self._tokens = parse_tokens(text, place=f"monitor_tokens: {file}")
        log.info("read %d tokens from %s", len(self._tokens), file)
