"""A Kafka of one node (KRaft): its settings, its storage, its command and its readiness check."""

from __future__ import annotations

import secrets
import shutil
import socket
import struct
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from deploy import jars
from deploy.errors import NotReadyError
from deploy.ports import HOST, PASSING, free_port

if TYPE_CHECKING:
    from pathlib import Path

# A killed broker can register again only when its old session has timed out. The default is 9 s.
_SESSION_MS, _HEARTBEAT_MS = 3000, 500
# A record of the log may have 8 MiB. The batch around it has a header.
MAX_MESSAGE_BYTES = 9 * 1024 * 1024
_METADATA, _VERSION, _CORRELATION = 3, 1, 7
_ANSWER_SECONDS = 2.0
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@{host}:{controller}
log.dirs=data
auto.create.topics.enable=false
message.max.bytes={max_message_bytes}
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms={session_ms}
broker.heartbeat.interval.ms={heartbeat_ms}
log.cleaner.dedupe.buffer.size=16777216
"""


@dataclass(frozen=True)
class KafkaServer:
    """A broker on a port. Its data is in the folder in which it is prepared."""

    name: ClassVar[str] = "kafka"
    variable: ClassVar[str] = "JUDGESTREAM_KAFKA"
    port: int

    @property
    def address(self) -> str:
        """Return the address for clients."""
        return f"{HOST}:{self.port}"

    def prepare(self, home: Path) -> list[str]:
        """Write the settings, format a new storage, and return the command that runs the broker in `home`."""
        java, classpath = jars.java(), jars.cache_folder()
        if not classpath.exists():
            jars.fetch(classpath)
        jars.verify(classpath)
        # Only the broker itself uses the controller's port, so it may differ each time.
        properties = home / "server.properties"
        properties.write_text(
            _PROPERTIES.format(
                host=HOST,
                port=self.port,
                controller=free_port(PASSING),
                max_message_bytes=MAX_MESSAGE_BYTES,
                session_ms=_SESSION_MS,
                heartbeat_ms=_HEARTBEAT_MS,
            )
        )
        # A killed broker leaves unpacked native libraries behind.
        scratch = home / "tmp"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        run = [java, "-cp", f"{classpath}/*", f"-Djava.io.tmpdir={scratch}", "-XX:-UsePerfData"]
        if not (home / "data" / "meta.properties").exists():
            _format(run, home)
        return [
            *run,
            "-Xmx512m",
            "-XX:+UseG1GC",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
            "kafka.Kafka",
            properties.name,
        ]

    def is_ready(self) -> bool:
        """Return whether the broker lists itself in its metadata. An open port alone does not mean that it serves."""
        try:
            return self.port in _brokers(self.port)
        except (OSError, struct.error):
            return False


def _format(run: list[str], home: Path) -> None:
    # A cluster id must not begin with a dash, or the tool reads it as an option.
    cluster = "J" + secrets.token_urlsafe(16)[1:]
    formatted = subprocess.run(
        [*run, "kafka.tools.StorageTool", "format", "--cluster-id", cluster, "--config", "server.properties"],
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if formatted.returncode != 0:
        output = "\n  ".join(formatted.stdout.splitlines()[-15:])
        raise NotReadyError(
            f"kafka: the storage in {home} cannot be formatted (Java 17 or newer is needed):\n  {output}"
        )


def _brokers(port: int) -> list[int]:
    """Request the cluster's metadata without topics, and return the port of each broker."""
    request = struct.pack(">hhih", _METADATA, _VERSION, _CORRELATION, -1) + struct.pack(">i", 0)
    with socket.create_connection((HOST, port), timeout=_ANSWER_SECONDS) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as answer:
            (size,) = struct.unpack(">i", answer.read(4))
            body = answer.read(size)
    correlation, count = struct.unpack_from(">ii", body)
    if correlation != _CORRELATION:
        return []
    ports, place = [], 8
    for _ in range(count):
        _node, host_size = struct.unpack_from(">ih", body, place)
        broker_port, rack_size = struct.unpack_from(">ih", body, place + 6 + host_size)
        ports.append(broker_port)
        place += 12 + host_size + max(rack_size, 0)
    return ports
