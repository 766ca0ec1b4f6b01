"""The rights of each role in Kafka, as commands for kafka-acls.sh: python deploy/kafka_acls.py | sh.

A broker with an authorizer refuses what is not allowed here. Read and Write include Describe.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Resource = Literal["topic", "group", "cluster"]
CLUSTER = "kafka-cluster"  # the only name of this kind


@dataclass(frozen=True)
class Right:
    """What a role may do with a topic, a group or the cluster. The namespace is put before names of topics and groups.

    The name of a group with `prefixed` stands for all groups that begin with it.
    """

    resource: Resource
    name: str
    operations: tuple[str, ...]
    prefixed: bool = False


def _topics(operations: str, *names: str) -> tuple[Right, ...]:
    return tuple(Right("topic", f"{name}.v1", tuple(operations.split())) for name in names)


ALL = ("judgments", "commands", "campaigns", "match-requests", "leaderboards", "ratings", "rejected")

ROLES: dict[str, tuple[Right, ...]] = {
    # Publishes judgments, and may follow the match requests in a group of its own.
    "platform": (
        *_topics("Write", "judgments"),
        *_topics("Read", "match-requests"),
        Right("group", "platform", ("Read",), prefixed=True),
    ),
    # Rates the log. It checks the configuration of the topics when it starts, and appends accepted commands to the log.
    "worker": (
        *_topics("Read Write DescribeConfigs", "judgments"),
        *_topics("Read DescribeConfigs", "commands"),
        *_topics("Write DescribeConfigs", "campaigns", "match-requests", "leaderboards", "ratings", "rejected"),
        Right("group", "judgestream", ("Read",)),
        Right("group", "judgestream-raters", ("Read",)),
    ),
    # Follows the outputs without a group, accepts judgments over HTTP, and sends commands.
    "monitor": (
        *_topics("Write", "judgments", "commands"),
        *_topics("Read", "campaigns", "leaderboards", "rejected"),
    ),
    # Follows the results, in a group of its own.
    "reader": (
        *_topics("Read", "campaigns", "leaderboards", "ratings"),
        Right("group", "reader", ("Read",), prefixed=True),
    ),
    # The commands of an operator: topics, doctor, campaign, replay, rejected, rebuild.
    "operator": (
        *_topics("Create Read DescribeConfigs AlterConfigs", *ALL),
        *_topics("Write", "judgments", "commands"),
        Right("group", "judgestream-raters", ("Describe",)),
    ),
}


def within(right: Right, namespace: str) -> str:
    """Return the name of the resource in a namespace.

    >>> within(ROLES["reader"][0], "staging")
    'staging.campaigns.v1'
    """
    return f"{namespace}.{right.name}" if namespace and right.resource != "cluster" else right.name


def commands(role: str, *, user: str, bootstrap: str, namespace: str = "", config: str = "") -> Iterator[str]:
    """Yield the commands that give a user the rights of a role.

    >>> next(commands("reader", user="dashboard", bootstrap="broker:9092"))[:81]
    'kafka-acls.sh --bootstrap-server broker:9092 --add --allow-principal User:dashboar'
    """
    for right in ROLES[role]:
        words = ["kafka-acls.sh", "--bootstrap-server", bootstrap]
        words += ["--command-config", config] if config else []
        words += ["--add", "--allow-principal", f"User:{user}"]
        words += [word for operation in right.operations for word in ("--operation", operation)]
        words += [f"--{right.resource}"] + ([] if right.resource == "cluster" else [within(right, namespace)])
        words += ["--resource-pattern-type", "prefixed"] if right.prefixed else []
        yield shlex.join(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the commands."""
    parser = argparse.ArgumentParser(prog="python deploy/kafka_acls.py", description=__doc__)
    parser.add_argument("roles", nargs="*", metavar="ROLE[=USER]", help=f"{', '.join(ROLES)}; default: all")
    parser.add_argument("--bootstrap-server", default="127.0.0.1:9092", help="default: %(default)s")
    parser.add_argument("--command-config", default="", help="properties file with the login of an administrator")
    parser.add_argument("--namespace", default="", help="as in JUDGESTREAM_NAMESPACE")
    chosen = parser.parse_args(arguments)
    for word in chosen.roles or ROLES:
        role, _, user = word.partition("=")
        if role not in ROLES:
            parser.error(f"there is no role {role!r}. Choose from {', '.join(ROLES)}.")
        options = {"bootstrap": chosen.bootstrap_server, "namespace": chosen.namespace, "config": chosen.command_config}
        for command in commands(role, user=user or role, **options):
            print(command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
