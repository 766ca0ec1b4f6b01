"""Choose loopback ports for the servers. A server that was killed starts again on the same port."""

from __future__ import annotations

import random
import socket
from typing import TYPE_CHECKING

from deploy.errors import PortTakenError

if TYPE_CHECKING:
    from collections.abc import Collection

HOST = "127.0.0.1"
# Below the range of outgoing connections (Linux: from 32768, others: from 49152). Otherwise a client that tries to
# reach a killed server could be given that server's port, and even connect to itself.
KEPT = range(20_000, 28_000)
PASSING = range(28_000, 32_768)


def free_port(among: range = KEPT, *, besides: Collection[int] = ()) -> int:
    """Return a port that is free and not reserved for another server."""
    for port in random.sample(among, k=200):
        if port not in besides and is_free(port):
            return port
    raise PortTakenError(
        f"none of 200 ports tried on {HOST}, from {among.start} to {among.stop - 1}, is free. Stop some servers."
    )


def is_free(port: int) -> bool:
    """Return whether a server can listen on this port now."""
    with socket.socket() as probe:
        # The servers set this too: closed connections of a killed server do not block its port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
