"""A Kafka with its authorizer on and a Redis with an ACL: one user per role, with the rights that `deploy` gives it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.admin import CreateAclsRequest
from redis import ConnectionError as RedisAway
from redis import Redis

from deploy.kafka_acls import ROLES, within
from deploy.kafka_server import KafkaServer
from deploy.ports import HOST, free_port
from deploy.processes import Process, end, launch
from deploy.redis_server import RedisServer
from tests.waiting import wait_for

ACL_FILE = Path(__file__).parents[2] / "deploy" / "redis" / "users.acl"
REDIS_ROLES = ("worker", "monitor", "reader")
NOBODY = "nobody"  # a user without rights
# As org.apache.kafka.common.resource.ResourceType and common.acl.AclOperation number them.
RESOURCES = {"topic": 2, "group": 3, "cluster": 4}
OPERATIONS = {
    "Read": 3,
    "Write": 4,
    "Create": 5,
    "Delete": 6,
    "Alter": 7,
    "Describe": 8,
    "DescribeConfigs": 10,
    "AlterConfigs": 11,
}
LITERAL, PREFIXED, ALLOW = 3, 4, 3


def password(user: str) -> str:
    return f"the-password-of-{user}"


@dataclass
class SecuredServers:
    """The two servers. The tests themselves speak to Kafka on its plain listener, as its administrator."""

    home: Path
    kafka: KafkaServer = field(init=False)
    redis: RedisServer = field(init=False)
    login_port: int = field(init=False)
    _processes: list[Process] = field(default_factory=list)

    def start(self) -> None:
        self.kafka, self.redis = KafkaServer(free_port()), RedisServer(free_port(), password("admin"))
        self.login_port = free_port(besides=[self.kafka.port, self.redis.port])
        self._start_kafka(self.home / "kafka")
        self._start_redis(self.home / "redis")
        wait_for(self.kafka.is_ready, "Kafka answers", pause=0.2)

    def _start_kafka(self, home: Path) -> None:
        home.mkdir(parents=True)
        command = self.kafka.prepare(home)
        properties = home / "server.properties"
        own = f"PLAINTEXT://{HOST}:{self.kafka.port}"
        users = " ".join(f'user_{user}="{password(user)}"' for user in (*ROLES, NOBODY))
        properties.write_text(
            properties.read_text().replace(own, f"{own},SASL_PLAINTEXT://{HOST}:{self.login_port}")
            + "listener.security.protocol.map="
            "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT\n"
            "sasl.enabled.mechanisms=PLAIN\n"
            "listener.name.sasl_plaintext.plain.sasl.jaas.config="
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {users};\n"
            "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
            "super.users=User:ANONYMOUS\n"
        )
        self._processes.append(launch(command, home=home, log=home / "kafka.log"))

    def _start_redis(self, home: Path) -> None:
        home.mkdir(parents=True)
        command = self.redis.prepare(home)
        rules = ACL_FILE.read_text()
        for role in REDIS_ROLES:
            assert f">{role.upper()}_PASSWORD" in rules
            rules = rules.replace(f"{role.upper()}_PASSWORD", password(role))
        (home / "users.acl").write_text(f"{rules}user admin on >{password('admin')} ~* &* +@all\n")
        settings = home / "redis.conf"
        lines = [line for line in settings.read_text().splitlines() if not line.startswith("requirepass")]
        settings.write_text("\n".join([*lines, "aclfile users.acl", ""]))
        self._processes.append(launch(command, home=home, log=home / "redis.log"))
        wait_for(self._redis_answers, lambda: (home / "redis.log").read_text(), pause=0.1)

    def _redis_answers(self) -> bool:
        try:
            with self.redis_of("admin") as client:
                return bool(client.ping())
        except RedisAway:
            return False

    def stop(self) -> None:
        for process in self._processes:
            end(process, patience=0)

    def redis_url(self, role: str) -> str:
        return f"redis://{role}:{password(role)}@{HOST}:{self.redis.port}/0"

    @contextmanager
    def redis_of(self, role: str) -> Iterator[Redis]:
        client = Redis.from_url(self.redis_url(role))
        try:
            yield client
        finally:
            client.close()

    def login(self, role: str) -> dict[str, Any]:
        """Return the options of an aiokafka client of a role."""
        return {
            "bootstrap_servers": f"{HOST}:{self.login_port}",
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": role,
            "sasl_plain_password": password(role),
        }

    def environment(self, role: str, *, redis_role: str = "reader") -> dict[str, str]:
        """Return the settings of a command that a role runs."""
        return {
            "JUDGESTREAM_KAFKA": f"{HOST}:{self.login_port}",
            "JUDGESTREAM_KAFKA_SECURITY": "SASL_PLAINTEXT",
            "JUDGESTREAM_KAFKA_USERNAME": role,
            "JUDGESTREAM_KAFKA_PASSWORD": password(role),
            "JUDGESTREAM_REDIS": self.redis_url(redis_role),
        }

    def allow(self, namespace: str) -> None:
        """Give every role its rights in a namespace, as `python deploy/kafka_acls.py` does."""
        asyncio.run(self._allow(namespace))

    async def _allow(self, namespace: str) -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.kafka.address)
        await admin.start()
        try:
            for role, rights in ROLES.items():
                for right in rights:
                    for operation in right.operations:
                        response = await admin._send_request(
                            CreateAclsRequest(
                                RESOURCES[right.resource],
                                within(right, namespace),
                                PREFIXED if right.prefixed else LITERAL,
                                f"User:{role}",
                                "*",
                                OPERATIONS[operation],
                                ALLOW,
                            )
                        )
                        assert response.creation_responses[0][0] == 0, response
        finally:
            await admin.close()
