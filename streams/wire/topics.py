"""The topics: their names, their events, and how long Kafka keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from streams.wire.events import CampaignStatus, Command, Judgment, Leaderboard, MatchRequest, Rating, Rejection

_DAY_MS = 24 * 60 * 60 * 1000
MAX_LOG_BYTES = 8 * 1024 * 1024
# A rejection carries the rejected record in base64, and a message.
MAX_OUTPUT_BYTES = 2 * MAX_LOG_BYTES


@dataclass(frozen=True, kw_only=True)
class Topic:
    """One topic of the wire format. `name` does not have the namespace."""

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


JUDGMENTS = Topic(
    name="judgments.v1",
    events=(Judgment, *get_args(Command)),
    key="campaign",
    about="The log: judgments and accepted commands, in order. All state is derived from it.",
    config={"cleanup.policy": "delete", "retention.ms": "-1", "max.message.bytes": str(MAX_LOG_BYTES)},
)
COMMANDS = Topic(
    name="commands.v1",
    events=get_args(Command),
    key="campaign",
    about="Commands of operators. Accepted commands are appended to the log.",
    config={"cleanup.policy": "delete", "retention.ms": str(_DAY_MS), "max.message.bytes": str(MAX_LOG_BYTES)},
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
    config={"cleanup.policy": "delete", "retention.ms": str(_DAY_MS)},
)
LEADERBOARDS = Topic(
    name="leaderboards.v1",
    events=(Leaderboard,),
    key="campaign",
    about="Snapshots of the rankings.",
    config={"cleanup.policy": "compact"},
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
    config={
        "cleanup.policy": "delete",
        "retention.ms": str(28 * _DAY_MS),
        "max.message.bytes": str(MAX_OUTPUT_BYTES),
    },
)

TOPICS = (JUDGMENTS, COMMANDS, CAMPAIGNS, MATCH_REQUESTS, LEADERBOARDS, RATINGS, REJECTED)
