"""Who may do what: named tokens for those who write, and a cookie for browsers that read."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from streams.errors import SettingError
from streams.monitor.http.responses import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

    from streams.settings import Settings

SHORTEST_SECRET = 16
COOKIE = "judgestream"
SESSION_SECONDS = 12 * 3600
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="judgestream"'}
BEARER = "bearer "
WRONG_TOKEN = "wrong_token"  # noqa: S105 - a reason


def tokens_of(text: str) -> dict[str, str]:
    """Read the tokens of a setting; several of different names let one be replaced while both are good.

    >>> tokens_of("platform:0123456789abcdef, other:fedcba9876543210")
    {'platform': '0123456789abcdef', 'other': 'fedcba9876543210'}
    """
    tokens: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, colon, secret = part.partition(":")
        name = name.strip()
        if not colon or not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise SettingError("monitor_tokens is a list of name:secret, comma-separated, with simple names")
        if len(secret) < SHORTEST_SECRET or not secret.isascii() or not secret.isprintable():
            raise SettingError(
                f"monitor_tokens: the secret of {name!r} needs {SHORTEST_SECRET} characters of ASCII at least, "
                "e.g. the output of: openssl rand -hex 32"
            )
        if name in tokens:
            raise SettingError(f"monitor_tokens: {name!r} stands there twice")
        tokens[name] = secret
    return tokens


@dataclass(frozen=True)
class Access:
    """The tokens, and whether reading takes one too."""

    tokens: Mapping[str, str]
    reads_open: bool = True

    @classmethod
    def of(cls, settings: Settings) -> Access:
        """Read the settings; SettingError where nobody could get in."""
        tokens = tokens_of(settings.monitor_tokens)
        if settings.monitor_reads == "closed" and not tokens:
            raise SettingError(
                "monitor_reads is 'closed' and monitor_tokens is empty, so nobody could read; "
                "set JUDGESTREAM_MONITOR_TOKENS to name:secret"
            )
        return cls(tokens, settings.monitor_reads == "open")

    def bearer(self, request: web.Request) -> str | None:
        """Name the token that a request carries, None if it carries none; a wrong one is refused."""
        header = request.headers.get("Authorization")
        if header is None:
            return None
        secret = header[len(BEARER) :].strip() if header.lower().startswith(BEARER) else ""
        name = self.name_of(secret)
        if name is None:
            raise RequestError(401, WRONG_TOKEN, "the token is not known here", headers=CHALLENGE)
        return name

    def name_of(self, secret: str) -> str | None:
        """Find a token by its secret, in a time that does not tell how much of it is right."""
        given = sha256(secret.encode(errors="replace")).digest()
        found = None
        for name, known in self.tokens.items():
            if hmac.compare_digest(given, sha256(known.encode()).digest()):
                found = name
        return found

    def check_write(self, bearer: str | None) -> None:
        """Refuse who may not write."""
        if bearer is None:
            hint = (
                "send `Authorization: Bearer SECRET`"
                if self.tokens
                else "this monitor has none: set JUDGESTREAM_MONITOR_TOKENS to name:secret"
            )
            raise RequestError(401, "token_needed", f"this needs a token; {hint}", headers=CHALLENGE)

    def check_read(self, request: web.Request, bearer: str | None, *, now: float) -> None:
        """Refuse who may not read."""
        if self.reads_open or bearer is not None or self._session(request.cookies.get(COOKIE, ""), now=now):
            return
        raise RequestError(401, "token_needed", "reading needs a token here, or a session", headers=CHALLENGE)

    def session(self, name: str, *, now: float) -> str:
        """Make a cookie's value, good for reading until it expires or its token is gone."""
        content = f"{name}.{int(now) + SESSION_SECONDS}"
        return f"{content}.{self._signature(name, content)}"

    def _session(self, value: str, *, now: float) -> bool:
        content, _, signature = value.rpartition(".")
        name, _, expires = content.rpartition(".")
        if name not in self.tokens or not expires.isdecimal() or not expires.isascii() or len(expires) > 12:
            return False
        signed = hmac.compare_digest(signature.encode(errors="replace"), self._signature(name, content).encode())
        return signed and now < int(expires)

    def _signature(self, name: str, content: str) -> str:
        return hmac.new(self.tokens[name].encode(), b"session:" + content.encode(), sha256).hexdigest()
