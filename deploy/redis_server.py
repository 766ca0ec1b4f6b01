"""A Redis that persists its data: its settings, its command and its readiness check."""

from __future__ import annotations

import shutil
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from deploy.errors import ToolMissingError
from deploy.ports import HOST

if TYPE_CHECKING:
    from pathlib import Path

_ANSWER_SECONDS = 2.0
_SETTINGS = """\
bind {host}
port {port}
requirepass {password}
daemonize no
dir ./
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
"""


@dataclass(frozen=True)
class RedisServer:
    """A Redis on a port, with a password. Its data is in the folder in which it is prepared."""

    name: ClassVar[str] = "redis"
    variable: ClassVar[str] = "JUDGESTREAM_REDIS"
    port: int
    password: str

    @property
    def address(self) -> str:
        """Return the address for clients."""
        return f"redis://:{self.password}@{HOST}:{self.port}/0"

    def prepare(self, home: Path) -> list[str]:
        """Write the settings, and return the command that runs Redis in `home`."""
        program = find_program()
        # The password is in a private file. In the command every user of the machine could read it.
        settings = home / "redis.conf"
        settings.touch(mode=0o600)
        settings.write_text(_SETTINGS.format(host=HOST, port=self.port, password=self.password))
        return [program, settings.name]

    def is_ready(self) -> bool:
        """Return whether Redis accepts the password and answers. It refuses while it loads its data."""
        try:
            with socket.create_connection((HOST, self.port), timeout=_ANSWER_SECONDS) as connection:
                connection.sendall(_command("AUTH", self.password) + _command("PING"))
                with connection.makefile("rb") as answer:
                    return [answer.readline(), answer.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
        except OSError:
            return False


def find_program() -> str:
    """Return the path of redis-server."""
    program = shutil.which("redis-server")
    if program is None:
        raise ToolMissingError(
            "redis-server is not on the PATH. Install it (`apt-get install redis-server`, "
            "`brew install redis`), or set JUDGESTREAM_REDIS to the address of your own Redis."
        )
    return program


def _command(*words: str) -> bytes:
    parts = b"".join(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words)
    return b"*%d\r\n%s" % (len(words), parts)
