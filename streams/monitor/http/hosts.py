"""The names of the monitor. A page of another site can make its own name resolve to the monitor (DNS rebinding)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from ipaddress import ip_address
from typing import TYPE_CHECKING

from streams.monitor.http.responses import RequestError
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from streams.settings import Settings

LOCAL = ("localhost", "*.localhost")


class KnownHosts:
    """The names that a Host header may have. Every address is accepted, because an attacker needs a name."""

    def __init__(self, settings: Settings) -> None:
        named = filter(None, (part.strip().lower() for part in settings.monitor_hosts.split(",")))
        self._patterns = (*LOCAL, settings.monitor_host.lower(), *named)

    def check(self, header: str | None) -> None:
        """Raise if a Host header has another name. A browser always sends one."""
        if header is None:
            return
        name = _name(header)
        if _is_address(name) or any(fnmatchcase(name, pattern) for pattern in self._patterns):
            return
        message = f"this monitor is not known as {quote(name)}; add the name to the setting monitor_hosts"
        raise RequestError(421, "unknown_host", message, field="Host")


def _name(header: str) -> str:
    """Return the name without the port.

    >>> _name("Example.org:8080"), _name("[::1]:8080"), _name("10.0.0.1")
    ('example.org', '::1', '10.0.0.1')
    """
    text = header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
