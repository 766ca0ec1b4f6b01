"""The topics: their names, their events, and how long Kafka keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from streams.wire.events import CampaignStatus, Command, Judgment, Leaderboard, MatchRequest, Rating, Rejection

if TYPE_CHECKING:
    from collections.abc import Mapping

_DAY_MS = 24 * 60 * 60 * 1000
# With any other value Kafka deletes records of the log that are still needed.
KEPT_FOREVER = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
# The broker sets the timestamp of a record. Otherwise a producer could choose it, and with it what "the future" is.
_WRITTEN_BY_BROKER = {"message.timestamp.type": "LogAppendTime"}
_MAY_BE_LARGER = ("max.message.bytes", "min.insync.replicas")
MAX_LOG_BYTES = 8 * 1024 * 1024
# A rejection carries the rejected record in base64, and a message.
MAX_OUTPUT_BYTES = 2 * MAX_LOG_BYTES


@dataclass(frozen=True, kw_only=True)
class ConfigProblem:
    """A value of a topic's configuration on the broker that is not as the contract says."""

    key: str
    found: str | None
    wanted: str

    def __str__(self) -> str:
        return f"{self.key} is {self.found}, should be {self.wanted}"


@dataclass(frozen=True, kw_only=True)
class Topic:
    """One topic of the wire format. `name` does not have the namespace. `config` is the same on every cluster."""

    name: str
    events: tuple[type, ...]
    key: str
    about: str
    config: dict[str, str] = field(default_factory=dict)

    def within(self, namespace: str) -> str:
        """Return the name of the topic on the broker.

        >>> JUDGMENTS.within("staging"), JUDGMENTS.within("")
        ('staging.judgments.v1', 'judgments.v1')
        """
        return f"{namespace}.{self.name}" if namespace else self.name

    def config_with(self, replicas: int) -> dict[str, str]:
        """Return the whole configuration. A record counts as written when most replicas have it, and then stays.

        >>> RATINGS.config_with(3)["min.insync.replicas"]
        '2'
        """
        safe = {"min.insync.replicas": str(replicas // 2 + 1), "unclean.leader.election.enable": "false"}
        return self.config | safe

    def compare(self, found: Mapping[str, str], *, replicas: int) -> tuple[ConfigProblem, ...]:
        """Return what is wrong in the configuration on the broker, its defaults included.

        >>> wanted = JUDGMENTS.config_with(3)
        >>> [str(problem) for problem in JUDGMENTS.compare(wanted | {"retention.bytes": "1000000"}, replicas=3)]
        ['retention.bytes is 1000000, should be -1']
        """
        return tuple(
            ConfigProblem(key=key, found=found.get(key), wanted=wanted)
            for key, wanted in self.config_with(replicas).items()
            if not _is_right(key, found.get(key), wanted=wanted, replicas=replicas)
        )


def _is_right(key: str, found: str | None, *, wanted: str, replicas: int) -> bool:
    if found is None or key not in _MAY_BE_LARGER:
        return found == wanted
    # With min.insync.replicas above the number of replicas nothing could be written.
    return int(found) >= int(wanted) and (key != "min.insync.replicas" or int(found) <= replicas)


def _kept_for(milliseconds: int) -> dict[str, str]:
    return KEPT_FOREVER | {"retention.ms": str(milliseconds)}


JUDGMENTS = Topic(
    name="judgments.v1",
    events=(Judgment, *get_args(Command)),
    key="campaign",
    about="The log: judgments and accepted commands, in order. All state is derived from it.",
    config=KEPT_FOREVER | _WRITTEN_BY_BROKER | {"max.message.bytes": str(MAX_LOG_BYTES)},
)
COMMANDS = Topic(
    name="commands.v1",
    events=get_args(Command),
    key="campaign",
    about="Commands of operators. Accepted commands are appended to the log.",
    config=_kept_for(_DAY_MS) | _WRITTEN_BY_BROKER | {"max.message.bytes": str(MAX_LOG_BYTES)},
)
CAMPAIGNS = Topic(
    name="campaigns.v1",
    events=(CampaignStatus,),
    key="campaign",
    about="The current settings and state of each campaign.",
    config={"cleanup.policy": "compact", "max.message.bytes": str(MAX_LOG_BYTES)},
)
MATCH_REQUESTS = Topic(
    name="match-requests.v1",
    events=(MatchRequest,),
    key="campaign",
    about="The most useful next matches.",
    config=_kept_for(_DAY_MS),
)
LEADERBOARDS = Topic(
    name="leaderboards.v1",
    events=(Leaderboard,),
    key="campaign, or campaign/tag=value",
    about="Snapshots of the rankings, and of those by category.",
    config={"cleanup.policy": "compact", "max.message.bytes": str(MAX_LOG_BYTES)},
)
RATINGS = Topic(
    name="ratings.v1",
    events=(Rating,),
    key="campaign/system",
    about="The state of each system, after each commit that changed it.",
    config={"cleanup.policy": "compact"},
)
REJECTED = Topic(
    name="rejected.v1",
    events=(Rejection,),
    key="the record's own",
    about="Records that were not applied, with the reason.",
    config=_kept_for(28 * _DAY_MS) | {"max.message.bytes": str(MAX_OUTPUT_BYTES)},
)

TOPICS = (JUDGMENTS, COMMANDS, CAMPAIGNS, MATCH_REQUESTS, LEADERBOARDS, RATINGS, REJECTED)
