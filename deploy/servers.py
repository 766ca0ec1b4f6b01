"""Run a real Kafka and Redis on this machine without Docker: fetch, start, stop, kill, status."""

from __future__ import annotations

import argparse
import logging
import secrets
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    # Python searches the folder of a script for modules, not the repository.
    sys.path.insert(0, str(ROOT))

from deploy import jars, state  # noqa: E402
from deploy.errors import NotReadyError, PortTakenError, ServersError  # noqa: E402
from deploy.kafka_server import KafkaServer  # noqa: E402
from deploy.ports import HOST, free_port, is_free  # noqa: E402
from deploy.processes import end, launch  # noqa: E402
from deploy.redis_server import RedisServer  # noqa: E402
from deploy.state import ServerRecord  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

DIRECTORY = ROOT / ".servers"
NAMES = (KafkaServer.name, RedisServer.name)
READY_SECONDS = 60.0
STOP_SECONDS = 30.0
_LOG_LINES = 20
_log = logging.getLogger("deploy.servers")


class Servers:
    """The servers of one folder. It contains their data, their logs and a file with their ports and processes.

    A server that was stopped or killed starts again on the same port with the same data.
    """

    def __init__(self, directory: Path = DIRECTORY, *, ready_seconds: float = READY_SECONDS) -> None:
        self.directory = directory.absolute()
        self._ready_seconds = ready_seconds
        self._file = self.directory / "state.json"

    def start(self, *names: str) -> dict[str, str]:
        """Start the given servers, or all. Return environment variables with their addresses when they answer."""
        names = names or NAMES
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with state.locked(self.directory / "lock"):
            records = state.read(self._file)
            commands: dict[str, list[str]] = {}
            for name in names:
                if name not in records:
                    records[name] = _new_record(name, besides=[record.port for record in records.values()])
                record = records[name]
                if record.runs():
                    _log.info("%s already runs on port %d", name, record.port)
                else:
                    # Prepare all before launching one, so that a missing program is noticed before anything runs.
                    commands[name] = self._prepare(name, record)
            for name, command in commands.items():
                process = launch(command, home=self._home(name), log=self.log(name))
                records[name] = replace(records[name], process=process)
                state.write(self._file, records)
            for name in names:
                self._wait(name, records[name])
                _log.info("%s answers on port %d", name, records[name].port)
        servers = [_server(name, records[name]) for name in names]
        return {server.variable: server.address for server in servers}

    def stop(self, *names: str, patience: float = STOP_SECONDS) -> None:
        """Stop the given servers, or all. Kill those that still run after `patience` seconds."""
        if not self._file.exists():
            _log.info("no server has been started in %s", self.directory)
            return
        with state.locked(self.directory / "lock"):
            running = self.running()
            for name in names or NAMES:
                process = running[name].process if name in running else None
                if process is None:
                    _log.info("%s does not run", name)
                    continue
                end(process, patience=patience)
                _log.info("%s stopped (pid %d)", name, process.pid)

    def kill(self, *names: str) -> None:
        """Kill the given servers, or all, as a crash would."""
        self.stop(*names, patience=0.0)

    def running(self) -> dict[str, ServerRecord]:
        """Return the record of each running server."""
        return {name: record for name, record in state.read(self._file).items() if record.runs()}

    def log(self, name: str) -> Path:
        """Return the path of a server's log."""
        return self._home(name) / f"{name}.log"

    def _home(self, name: str) -> Path:
        return self.directory / name

    def _prepare(self, name: str, record: ServerRecord) -> list[str]:
        if not is_free(record.port):
            raise PortTakenError(
                f"{name} must start on port {record.port}, which another process uses. "
                f"Stop that process, or remove {self.directory} to start with new data."
            )
        self._home(name).mkdir(exist_ok=True)
        return _server(name, record).prepare(self._home(name))

    def _wait(self, name: str, record: ServerRecord) -> None:
        server, deadline = _server(name, record), time.monotonic() + self._ready_seconds
        while True:
            # In this order, because another process may answer on the port of a dead one.
            ready, runs = server.is_ready(), record.runs()
            if ready and runs:
                return
            if not runs:
                raise NotReadyError(f"{name} ended while it started. {self._end_of_log(name)}")
            if time.monotonic() > deadline:
                raise NotReadyError(
                    f"{name} runs, but has not answered on port {record.port} for {self._ready_seconds:g} s. "
                    f"`start` waits again, `stop` ends it. {self._end_of_log(name)}"
                )
            time.sleep(0.05)

    def _end_of_log(self, name: str) -> str:
        lines = self.log(name).read_text(errors="replace").splitlines()[-_LOG_LINES:]
        return "\n  ".join([f"The end of {self.log(name)}:", *lines])


def _new_record(name: str, *, besides: Collection[int]) -> ServerRecord:
    password = secrets.token_hex(16) if name == RedisServer.name else ""
    return ServerRecord(port=free_port(besides=besides), password=password)


def _server(name: str, record: ServerRecord) -> KafkaServer | RedisServer:
    if name == RedisServer.name:
        return RedisServer(record.port, record.password)
    return KafkaServer(record.port)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    chosen = _parser().parse_args(arguments)
    try:
        _run(chosen)
    except (ServersError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted. Servers that were started still run: see `status` and `stop`.", file=sys.stderr)
        return 1
    return 0


def _run(chosen: argparse.Namespace) -> None:
    if chosen.verb == "fetch":
        jars.fetch(jars.cache_folder())
        return
    servers = Servers(chosen.dir)
    if chosen.verb == "start":
        for variable, address in servers.start(*chosen.servers).items():
            print(f"export {variable}={address}")
    elif chosen.verb == "stop":
        servers.stop(*chosen.servers)
    elif chosen.verb == "kill":
        servers.kill(*chosen.servers)
    else:
        running = servers.running()
        for name in NAMES:
            if name in running and (process := running[name].process):
                print(f"{name} runs on {HOST}:{running[name].port} (pid {process.pid}), log {servers.log(name)}")
            else:
                print(f"{name} does not run (folder {servers.directory})")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python deploy/servers.py",
        description=__doc__,
        epilog='example: eval "$(python deploy/servers.py start)" && judgestream doctor',
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("fetch", help=f"fetch the jars of Kafka {jars.KAFKA_VERSION} into the cache")
    for verb, about in (
        ("start", "start the servers and print environment variables with their addresses"),
        ("stop", f"stop the servers; kill them after {STOP_SECONDS:g} s"),
        ("kill", "kill the servers at once, as a crash would"),
        ("status", "print which servers run, and where"),
    ):
        command = verbs.add_parser(verb, help=about, description=about)
        command.add_argument(
            "--dir", type=Path, default=DIRECTORY, help="folder with their data (default: %(default)s)"
        )
        if verb != "status":
            command.add_argument("servers", nargs="*", type=_name, metavar="|".join(NAMES), help="default: both")
    return parser


def _name(text: str) -> str:
    if text not in NAMES:
        raise argparse.ArgumentTypeError(f"there is no server {text!r}. Choose {' or '.join(NAMES)}.")
    return text


if __name__ == "__main__":
    sys.exit(main())
