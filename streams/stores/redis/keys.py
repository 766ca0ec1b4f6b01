"""The Redis keys. Other modules know the names of their own tables only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

PartitionPart = Literal["head", "campaigns", "outbox", "gaps", "late"]


@dataclass(frozen=True)
class Keys:
    """Names of keys. The braces put all keys of a campaign into one slot of a Redis Cluster.

    >>> Keys("").campaign("wmt13.fr-en", "systems")
    'judgestream:{wmt13.fr-en}:systems'
    >>> Keys("staging").partition("judgments.v1/3")
    'judgestream:staging:{judgments.v1/3}'
    >>> Keys("", layer="fresh").campaign("wmt13.fr-en", "systems")
    'judgestream:{wmt13.fr-en}:fresh:systems'
    """

    namespace: str
    layer: str = ""  # other keys beside the live ones, in the same slots

    def campaign(self, campaign: str, table: str) -> str:
        """Return the key of a campaign's table.

        The tables are meta, systems, judges, segments, pairs, cells, replicas, votes, residuals, requests, seen,
        leaderboard and outbox. The hash meta holds epoch, partition, offset and layout, under `rows` the sizes of the
        other tables, and under `campaign` and `status` the two parts of the encoded CampaignMeta.
        """
        return f"{self.prefix}{{{campaign}}}{self.suffix}:{table}"

    def partition(self, partition: str, part: PartitionPart = "head") -> str:
        """Return a key of a partition.

        `head` is the hash of its epoch, offset, layout and counts, `campaigns` the hash of the offsets of its campaigns
        as of that head, `outbox` the outputs of its last batch that belong to no campaign, `gaps` the hash of the
        offsets that were deleted unread, and `late` the report that a former owner has emitted outputs.
        """
        head = f"{self.prefix}{{{partition}}}{self.suffix}"
        return head if part == "head" else f"{head}:{part}"

    def begun(self, token: str) -> str:
        """Return the key of the campaigns that a token has begun within a day."""
        return f"{self.prefix}begun:{token}"

    def session(self, session: str) -> str:
        """Return the key of a monitor's session, which holds the hash of its token."""
        return f"{self.prefix}session:{session}"

    @cached_property
    def workers(self) -> str:
        """The hash of the workers' reports."""
        return f"{self.prefix}{{workers}}"

    @cached_property
    def prefix(self) -> str:
        """The beginning of every key."""
        return f"judgestream:{self.namespace}:" if self.namespace else "judgestream:"

    @cached_property
    def suffix(self) -> str:
        """What follows the braces."""
        return f":{self.layer}" if self.layer else ""
