"""A real Kafka and a real Redis on this machine without Docker: fetch, start, stop, kill, status."""

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
    # Python looks for a script's modules beside the script, and not in the repo.
    sys.path.insert(0, str(ROOT))

from deploy import jars, state  # noqa: E402
from deploy.errors import NotReadyError, PortTakenError, ServersError  # noqa: E402
from deploy.kafka_server import KafkaServer  # noqa: E402
from deploy.ports import HOST, free_port, is_free  # noqa: E402
from deploy.processes import end, launch  # noqa: E402
from deploy.redis_server import RedisServer  # noqa: E402
from deploy.state import Record  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

DIRECTORY = ROOT / ".servers"
NAMES = (KafkaServer.name, RedisServer.name)
READY_SECONDS = 60.0
STOP_SECONDS = 30.0
_SHOWN_LINES = 20
_log = logging.getLogger("deploy.servers")


class Servers:
    """The servers of one folder, which holds their data, their logs and the record of where they run.

    A server comes back on its port with its data after `stop`, after `kill` and after any other death.
    """

    def __init__(self, directory: Path = DIRECTORY, *, ready_seconds: float = READY_SECONDS) -> None:
        self.directory = directory.absolute()
        self._ready_seconds = ready_seconds
        self._file = self.directory / "state.json"

    def start(self, *names: str) -> dict[str, str]:
        """Start the named servers, or all, wait until they answer, and give the variables that lead there."""
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
                    # All are prepared before one is launched: what is missing shows while nothing runs yet.
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
        """End the named servers, or all: asked first, and killed if they run on after `patience` seconds."""
        if not self._file.exists():
            _log.info("no server was started in %s", self.directory)
            return
        with state.locked(self.directory / "lock"):
            running = self.running()
            for name in names or NAMES:
                process = running[name].process if name in running else None
                if process is None:
                    _log.info("%s does not run", name)
                    continue
                end(process, patience=patience)
                _log.info("%s ended (pid %d)", name, process.pid)

    def kill(self, *names: str) -> None:
        """End the named servers, or all, at once, as a crash would."""
        self.stop(*names, patience=0.0)

    def running(self) -> dict[str, Record]:
        """Give the record of each server that runs now."""
        return {name: record for name, record in state.read(self._file).items() if record.runs()}

    def log(self, name: str) -> Path:
        """Give the file with all that a server has printed."""
        return self._home(name) / f"{name}.log"

    def _home(self, name: str) -> Path:
        return self.directory / name

    def _prepare(self, name: str, record: Record) -> list[str]:
        if not is_free(record.port):
            raise PortTakenError(
                f"{name} has to come back on port {record.port}, which another process holds: "
                f"end that process, or remove {self.directory} to begin anew"
            )
        self._home(name).mkdir(exist_ok=True)
        return _server(name, record).prepare(self._home(name))

    def _wait(self, name: str, record: Record) -> None:
        server, deadline = _server(name, record), time.monotonic() + self._ready_seconds
        while True:
            # In this order: what answers on the port of a dead process is not ours.
            ready, runs = server.is_ready(), record.runs()
            if ready and runs:
                return
            if not runs:
                raise NotReadyError(f"{name} died while it started. {self._told(name)}")
            if time.monotonic() > deadline:
                raise NotReadyError(
                    f"{name} does not answer on port {record.port} after {self._ready_seconds:g} s, "
                    f"and still runs: `start` waits again, `stop` ends it. {self._told(name)}"
                )
            time.sleep(0.05)

    def _told(self, name: str) -> str:
        lines = self.log(name).read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
        return "\n  ".join([f"The end of {self.log(name)}:", *lines])


def _new_record(name: str, *, besides: Collection[int]) -> Record:
    password = secrets.token_hex(16) if name == RedisServer.name else ""
    return Record(port=free_port(besides=besides), password=password)


def _server(name: str, record: Record) -> KafkaServer | RedisServer:
    if name == RedisServer.name:
        return RedisServer(record.port, record.password)
    return KafkaServer(record.port)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and give its exit code."""
    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    chosen = _parser().parse_args(arguments)
    try:
        _run(chosen)
    except (ServersError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted; what was started goes on: see `status`, `stop`", file=sys.stderr)
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
                print(f"{name} does not run in {servers.directory}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python deploy/servers.py",
        description=__doc__,
        epilog='example: eval "$(python deploy/servers.py start)" && judgestream doctor',
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("fetch", help=f"bring the jars of Kafka {jars.KAFKA_VERSION} into the cache")
    for verb, about in (
        ("start", "start the servers and print the variables that lead to them"),
        ("stop", f"ask the servers to end, and kill them after {STOP_SECONDS:g} s"),
        ("kill", "kill the servers at once, as a crash would"),
        ("status", "say what runs where"),
    ):
        command = verbs.add_parser(verb, help=about, description=about)
        command.add_argument("--dir", type=Path, default=DIRECTORY, help="their data (default: %(default)s)")
        if verb != "status":
            command.add_argument("servers", nargs="*", type=_name, metavar="|".join(NAMES), help="default: both")
    return parser


def _name(text: str) -> str:
    if text not in NAMES:
        raise argparse.ArgumentTypeError(f"there is no server {text!r}: {' or '.join(NAMES)}")
    return text


if __name__ == "__main__":
    sys.exit(main())
