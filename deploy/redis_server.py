"""A Redis that keeps what it is told: its settings, its command, and whether it really answers."""

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
    """A Redis on a port, behind a password; its data belongs to the folder that it is prepared in."""

    name: ClassVar[str] = "redis"
    variable: ClassVar[str] = "JUDGESTREAM_REDIS"
    port: int
    password: str

    @property
    def address(self) -> str:
        """Give what the clients are told."""
        return f"redis://:{self.password}@{HOST}:{self.port}/0"

    def prepare(self, home: Path) -> list[str]:
        """Write the settings, and give the command that runs Redis in `home`."""
        program = shutil.which("redis-server")
        if program is None:
            raise ToolMissingError(
                "redis-server is not on the PATH: install it (`apt-get install redis-server`, "
                "`brew install redis`), or point JUDGESTREAM_REDIS at a Redis of your own"
            )
        # In a private file and not in the command, where every user of the machine would see the password.
        settings = home / "redis.conf"
        settings.touch(mode=0o600)
        settings.write_text(_SETTINGS.format(host=HOST, port=self.port, password=self.password))
        return [program, settings.name]

    def is_ready(self) -> bool:
        """Tell whether Redis takes the password and answers: while it loads its data it refuses."""
        try:
            with socket.create_connection((HOST, self.port), timeout=_ANSWER_SECONDS) as connection:
                connection.sendall(_command("AUTH", self.password) + _command("PING"))
                with connection.makefile("rb") as answer:
                    return [answer.readline(), answer.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
        except OSError:
            return False


def _command(*words: str) -> bytes:
    parts = b"".join(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words)
    return b"*%d\r\n%s" % (len(words), parts)
