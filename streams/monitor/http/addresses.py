"""The address of a client: its network, seen through trusted proxies."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from streams.errors import SettingError

if TYPE_CHECKING:
    from ipaddress import IPv4Network

    from aiohttp import web

UNKNOWN = "unknown"
FORWARDED = "X-Forwarded-For"
HOME_PREFIX = 64  # bits of an IPv6 address that belong to one customer, who chooses the others


class ClientAddresses:
    """Returns whom a request counts for. A trusted proxy names the client in X-Forwarded-For.

    >>> ClientAddresses("10.0.0.0/8").trusts("10.1.2.3")
    True
    """

    def __init__(self, proxies: str) -> None:
        self._proxies = [_proxy(part) for part in filter(None, map(str.strip, proxies.split(",")))]

    def trusts(self, address: str | None) -> bool:
        """Return whether an address is a trusted proxy."""
        found = _parsed(address or "") if self._proxies else None
        return found is not None and any(found in network for network in self._proxies)

    def of(self, request: web.Request) -> str:
        """Return the network of the client: the last address in the chain of proxies that is not a trusted one."""
        address = request.remote or UNKNOWN
        if self._proxies:
            chain = ",".join(request.headers.getall(FORWARDED, ())).split(",")
            while chain and self.trusts(address):
                if forwarded := chain.pop().strip():
                    address = forwarded
        return network_of(address)


@lru_cache(10_000)
def network_of(address: str) -> str:
    """Return an IPv4 address as it is, and the first half of an IPv6 address.

    >>> network_of("192.0.2.7"), network_of("2001:db8::1"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    found = _parsed(address)
    if found is None:
        return UNKNOWN
    return str(found) if isinstance(found, IPv4Address) else str(IPv6Network((found, HOME_PREFIX), strict=False))


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _proxy(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        message = f"monitor_proxies: {text!r} is not an address or a network such as 10.0.0.0/8"
        raise SettingError(message) from None
