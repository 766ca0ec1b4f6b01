"""The workers of a soak. Each that should run is watched: none may end unless the soak ended it."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from enum import Enum, auto

from deploy.ports import free_port
from tests.faults.stack import FaultStack
from tests.integration.stack import WorkerProcess
from tests.monitor.site import Answer, Client
from tests.soak.errors import SoakError
from tests.waiting import wait_for

# Docker and Kubernetes kill a process that takes longer by default (10 s and 30 s). Here the machine may be busy.
LONGEST_END_SECONDS = 60.0
# The first line of a worker that can't begin because a server is away.
REFUSALS = ("Error: Kafka at ", "Error: Redis at ")


class State(Enum):
    """What the soak has done to a worker."""

    RUNNING = auto()
    FROZEN = auto()  # SIGSTOP
    ENDING = auto()  # SIGTERM
    DOWN = auto()


@dataclass
class Member:
    """One place in the fleet, with the worker that has it now."""

    number: int
    port: int
    worker: WorkerProcess | None = None
    state: State = State.DOWN
    told_to_end: float = 0.0

    @property
    def process(self) -> WorkerProcess:
        """The worker."""
        assert self.worker is not None
        return self.worker


class Fleet:
    """A fixed number of places for workers, some of which may be down."""

    def __init__(self, stack: FaultStack, size: int) -> None:
        self.stack = stack
        self.slowest_end = 0.0
        ports: list[int] = []
        for _ in range(size):
            ports.append(free_port(besides=ports))
        self.members = [Member(number, port) for number, port in enumerate(ports)]

    def among(self, *states: State) -> list[Member]:
        """Return the members in one of these states."""
        return [member for member in self.members if member.state in states]

    def start(self, member: Member) -> None:
        """Start a worker. Wait first for one that was told to end."""
        if member.state is State.ENDING:
            self._wait_for_end(member)
        member.worker = self.stack.start_worker(JUDGESTREAM_HEALTH_PORT=str(member.port))
        member.state = State.RUNNING

    def kill(self, member: Member) -> None:
        """End a worker as a crash would."""
        self.stack.kill(member.process)
        member.state = State.DOWN

    def freeze(self, member: Member) -> None:
        """Stop a worker with SIGSTOP. It does not know it."""
        os.kill(member.process.process.pid, signal.SIGSTOP)
        member.state = State.FROZEN

    def thaw(self, member: Member) -> None:
        """Let a frozen worker go on."""
        os.kill(member.process.process.pid, signal.SIGCONT)
        member.state = State.RUNNING

    def terminate(self, member: Member) -> None:
        """Tell a worker to end."""
        member.process.process.send_signal(signal.SIGTERM)
        member.state, member.told_to_end = State.ENDING, time.monotonic()

    def terminate_all(self) -> None:
        """End all workers, and wait until they have."""
        for member in self.among(State.FROZEN):
            self.thaw(member)
        for member in self.among(State.RUNNING):
            self.terminate(member)
        for member in self.among(State.ENDING):
            self._wait_for_end(member)

    def start_all(self) -> None:
        """Start all that are down."""
        for member in self.among(State.FROZEN):
            self.thaw(member)
        for member in self.among(State.ENDING, State.DOWN):
            self.start(member)

    def check(self) -> None:
        """Raise SoakError if a worker has ended by itself, or does not end although it was told to."""
        for member in self.members:
            if member.state is State.DOWN:
                continue
            code = member.process.process.poll()
            if member.state is State.ENDING:
                self._check_end(member, code)
            elif code is not None and member.process.log.read_text().startswith(REFUSALS):
                self.start(member)  # as whatever runs the workers would
            elif code is not None:
                raise SoakError(f"worker {member.number} ended by itself with code {code}\n{self._last_lines(member)}")

    def ask(self, member: Member, path: str) -> Answer | None:
        """Ask a worker for its health. Return None if it does not answer."""
        try:
            return Client(f"http://127.0.0.1:{member.port}").ask(path)
        except OSError:
            return None

    def _check_end(self, member: Member, code: int | None) -> None:
        seconds = time.monotonic() - member.told_to_end
        if code is None:
            if seconds > LONGEST_END_SECONDS:
                raise SoakError(f"worker {member.number} has not ended {seconds:.0f} s after SIGTERM")
            return
        # A process that has not begun yet, and has said nothing, is ended by the signal itself.
        if code != 0 and not (code == -signal.SIGTERM and not member.process.log.read_text()):
            raise SoakError(f"worker {member.number} ended with code {code} on SIGTERM\n{self._last_lines(member)}")
        self.slowest_end = max(self.slowest_end, seconds)
        member.state = State.DOWN

    def _wait_for_end(self, member: Member) -> None:
        def has_ended() -> bool:
            self._check_end(member, member.process.process.poll())
            return member.state is State.DOWN

        wait_for(has_ended, f"worker {member.number} ends")

    def _last_lines(self, member: Member) -> str:
        lines = member.process.log.read_text(errors="replace").splitlines()[-15:]
        return "\n".join([f"the end of {member.process.log}:", *(f"  {line[:400]}" for line in lines)])
