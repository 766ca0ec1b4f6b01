"""The loopback ports that the servers listen on, kept for a server that was killed and comes back."""

from __future__ import annotations

import random
import socket
from typing import TYPE_CHECKING

from deploy.errors import PortTakenError

if TYPE_CHECKING:
    from collections.abc import Collection

HOST = "127.0.0.1"
# Below the ports that systems hand to outgoing connections (Linux from 32768, others from 49152): a client
# that keeps knocking at a killed server could otherwise be given its port, and even connect to itself.
KEPT = range(20_000, 28_000)
PASSING = range(28_000, 32_768)


def free_port(among: range = KEPT, *, besides: Collection[int] = ()) -> int:
    """Choose a port that nobody listens on, and that was not promised to another server."""
    for port in random.sample(among, k=200):
        if port not in besides and is_free(port):
            return port
    raise PortTakenError(f"no free port on {HOST} among 200 from {among.start} to {among.stop - 1}: free some")


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this port now."""
    with socket.socket() as probe:
        # As the servers do: what is left of the connections of a killed server does not hold its port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
