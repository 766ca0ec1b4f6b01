"""A Kafka that wants TLS, a password or both is reached by every part of the program, and one that refuses is named."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.kafka_server import KafkaServer
from deploy.ports import HOST, free_port
from deploy.processes import end, launch
from streams.settings import Settings
from streams.wire import topics
from tests.builders import crowd_log
from tests.conftest import Addresses
from tests.integration.stack import Stack
from tests.integration.test_metrics import values
from tests.waiting import wait_for

pytestmark = pytest.mark.integration

PASSWORD = "a-password-of-the-tests"
LOGIN = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_app="{PASSWORD}";'
SECURED = f"""\
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config={LOGIN}
listener.name.sasl_ssl.plain.sasl.jaas.config={LOGIN}
ssl.keystore.type=PEM
ssl.keystore.location=broker.pem
"""


class SecureKafka:
    """A broker with one listener for each way of speaking to it."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.authority = home / "authority.pem"
        self._home = home
        self.plain = KafkaServer(free_port())
        self.ports: dict[str, int] = {}
        for security in ("SASL_PLAINTEXT", "SASL_SSL", "SSL"):
            self.ports[security] = free_port(besides=[self.plain.port, *self.ports.values()])
        command = self.plain.prepare(home)
        _certify(home, self.authority)
        properties = home / "server.properties"
        written = properties.read_text()
        listeners = "".join(f",{security}://{HOST}:{port}" for security, port in self.ports.items())
        own = f"PLAINTEXT://{HOST}:{self.plain.port}"
        assert written.count(own) == 2
        properties.write_text(f"{written.replace(own, own + listeners)}{SECURED}")
        self._process = launch(command, home=home, log=home / "kafka.log")

    def wait(self) -> None:
        wait_for(lambda: self.plain.is_ready() or not self._process.runs(), "the broker answers", pause=0.2)
        assert self._process.runs(), (self._home / "kafka.log").read_text()[-3000:]

    def stop(self) -> None:
        end(self._process, patience=0)

    def settings(self, security: str) -> dict[str, str]:
        found = {"JUDGESTREAM_KAFKA": f"{HOST}:{self.ports[security]}", "JUDGESTREAM_KAFKA_SECURITY": security}
        if security.startswith("SASL"):
            found |= {"JUDGESTREAM_KAFKA_USERNAME": "app", "JUDGESTREAM_KAFKA_PASSWORD": PASSWORD}
        if security.endswith("SSL"):
            found["JUDGESTREAM_KAFKA_CA_FILE"] = str(self.authority)
        return found


def _certify(home: Path, authority: Path) -> None:
    """Make an authority of the test's own, and a certificate of the broker by it."""
    request = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj"]
    for command in (
        [*request, "/CN=authority", "-x509", "-days", "2", "-keyout", "authority.key", "-out", str(authority)],
        [*request, "/CN=broker", "-keyout", "broker.key", "-out", "broker.csr"],
    ):
        subprocess.run(command, cwd=home, check=True, capture_output=True)
    (home / "names").write_text(f"subjectAltName=IP:{HOST}\n")
    by = ["-CA", str(authority), "-CAkey", "authority.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
    signed = subprocess.run(
        ["openssl", "x509", "-req", "-in", "broker.csr", *by],
        cwd=home,
        check=True,
        capture_output=True,
    )
    (home / "broker.pem").write_bytes((home / "broker.key").read_bytes() + signed.stdout)


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    server = SecureKafka(tmp_path_factory.mktemp("secure") / "kafka")
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture
def secure(kafka: SecureKafka, servers: Addresses, namespace: str, tmp_path: Path) -> Iterator[Stack]:
    """A stack that itself speaks plainly to the broker; its commands are told otherwise."""
    settings = Settings(
        kafka=kafka.plain.address,
        redis=servers.redis,
        namespace=namespace,
        judge_key="a key for tests",
        partitions=2,
        snapshot_seconds=0.5,
    )
    stack = Stack(settings, tmp_path)
    try:
        yield stack
    finally:
        stack.stop()


@pytest.mark.parametrize("security", ["SASL_PLAINTEXT", "SASL_SSL", "SSL"])
def test_every_part_reaches_a_kafka_that_is_secured(kafka: SecureKafka, secure: Stack, security: str) -> None:
    told = kafka.settings(security)
    doctor = secure.command("doctor", **told)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    worker = secure.start_worker(**told)
    log = crowd_log(60, campaigns=2)
    secure.publish(values(log))
    secure.wait_until_read(60)
    # The log is read again for it, by a consumer of its own; its answer is waited for by another.
    done = secure.command("campaign", "retract", "campaign-0", "--judgment", log[0].id, "--yes", **told)
    assert done.returncode == 0, done.stdout + done.stderr
    secure.wait_for(lambda: len(secure.values(topics.LEADERBOARDS)) > 0, "Faust's producer")
    for command in (("rejected", "list"), ("leaderboard", "campaign-0")):
        done = secure.command(*command, **told)
        assert done.returncode == 0, done.stdout + done.stderr
    assert PASSWORD not in worker.log.read_text()


@pytest.mark.parametrize(
    ("security", "wrong"),
    [
        ("SASL_PLAINTEXT", {"JUDGESTREAM_KAFKA_PASSWORD": "another-password"}),
        ("SASL_SSL", {"JUDGESTREAM_KAFKA_CA_FILE": ""}),
    ],
)
def test_a_broker_that_refuses_is_named_with_the_way_it_was_spoken_to(
    kafka: SecureKafka, secure: Stack, security: str, wrong: dict[str, str]
) -> None:
    done = secure.command("doctor", **kafka.settings(security) | wrong)
    assert done.returncode == 1
    assert f"(security {security}, user app)" in done.stdout
    assert "JUDGESTREAM_KAFKA_SECURITY" in done.stdout
    assert "password" not in done.stdout.replace("if it needs TLS or a password", "")
