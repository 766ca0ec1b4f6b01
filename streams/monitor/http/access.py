"""Who may do what: named tokens for clients that write, and a cookie for browsers that read."""

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
    """Return the tokens of the setting by name. With two names, a token can be replaced while both are valid.

    >>> tokens_of("platform:0123456789abcdef, other:fedcba9876543210")
    {'platform': '0123456789abcdef', 'other': 'fedcba9876543210'}
    """
    tokens: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, colon, secret = part.partition(":")
        name = name.strip()
        if not colon or not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise SettingError(
                "monitor_tokens must be a comma-separated list of name:secret with simple names: "
                "letters, digits, '-' and '_'"
            )
        if len(secret) < SHORTEST_SECRET or not secret.isascii() or not secret.isprintable():
            raise SettingError(
                f"monitor_tokens: the secret of {name!r} needs at least {SHORTEST_SECRET} ASCII characters, "
                "e.g. the output of: openssl rand -hex 32"
            )
        if name in tokens:
            raise SettingError(f"monitor_tokens: the name {name!r} is used twice; give each token its own name")
        tokens[name] = secret
    return tokens


@dataclass(frozen=True)
class Access:
    """The tokens, and whether reading needs one too."""

    tokens: Mapping[str, str]
    open_to_read: bool = True

    @classmethod
    def of(cls, settings: Settings) -> Access:
        """Read the settings. Raise SettingError if nobody could read."""
        tokens = tokens_of(settings.monitor_tokens)
        if settings.monitor_reads == "closed" and not tokens:
            raise SettingError(
                "monitor_reads is 'closed' and monitor_tokens is empty, so nobody could read; "
                "set JUDGESTREAM_MONITOR_TOKENS to name:secret"
            )
        return cls(tokens, settings.monitor_reads == "open")

    def bearer(self, request: web.Request) -> str | None:
        """Return the name of the request's token, or None if it has none. Raise if the token is wrong."""
        header = request.headers.get("Authorization")
        if header is None:
            return None
        secret = header[len(BEARER) :].strip() if header.lower().startswith(BEARER) else ""
        name = self.name_of(secret)
        if name is None:
            raise RequestError(401, WRONG_TOKEN, "this monitor does not know the token", headers=CHALLENGE)
        return name

    def name_of(self, secret: str) -> str | None:
        """Return the name of the token with this secret. The time it takes reveals nothing about the secret."""
        given = sha256(secret.encode(errors="replace")).digest()
        found = None
        for name, known in self.tokens.items():
            if hmac.compare_digest(given, sha256(known.encode()).digest()):
                found = name
        return found

    def check_write(self, bearer: str | None) -> None:
        """Raise if the request has no token."""
        if bearer is None:
            hint = (
                "send `Authorization: Bearer SECRET`"
                if self.tokens
                else "this monitor has no tokens: set JUDGESTREAM_MONITOR_TOKENS to name:secret"
            )
            raise RequestError(401, "token_needed", f"a token is needed; {hint}", headers=CHALLENGE)

    def check_read(self, request: web.Request, bearer: str | None, *, now: float) -> None:
        """Raise if reading needs a token, and the request has neither token nor session."""
        if self.open_to_read or bearer is not None or self._is_valid(request.cookies.get(COOKIE, ""), now=now):
            return
        raise RequestError(401, "token_needed", "reading needs a token or a session", headers=CHALLENGE)

    def session(self, name: str, *, now: float) -> str:
        """Return the value of a cookie. It is valid until it expires or its token is removed."""
        content = f"{name}.{int(now) + SESSION_SECONDS}"
        return f"{content}.{self._signature(name, content)}"

    def _is_valid(self, value: str, *, now: float) -> bool:
        content, _, signature = value.rpartition(".")
        name, _, expires = content.rpartition(".")
        if name not in self.tokens or not expires.isdecimal() or not expires.isascii() or len(expires) > 12:
            return False
        signed = hmac.compare_digest(signature.encode(errors="replace"), self._signature(name, content).encode())
        return signed and now < int(expires)

    def _signature(self, name: str, content: str) -> str:
        return hmac.new(self.tokens[name].encode(), b"session:" + content.encode(), sha256).hexdigest()
