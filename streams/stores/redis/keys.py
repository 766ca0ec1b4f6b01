"""The Redis keys: the one place that knows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Keys:
    """Names of keys; the braces put all keys of a campaign into one slot of a Redis Cluster.

    >>> Keys("").campaign("wmt13.fr-en", "systems")
    'judgestream:{wmt13.fr-en}:systems'
    >>> Keys("staging").partition("judgments.v1/3")
    'judgestream:staging:{judgments.v1/3}'
    >>> Keys("", layer="fresh").campaign("wmt13.fr-en", "systems")
    'judgestream:{wmt13.fr-en}:fresh:systems'
    """

    namespace: str
    layer: str = ""  # beside the live keys, in their slots

    def campaign(self, campaign: str, table: str) -> str:
        """Name a table of a campaign: meta, systems, judges, segments, pairs, seen, leaderboard or outbox."""
        return f"{self._prefix}{{{campaign}}}{self._suffix}:{table}"

    def partition(self, partition: str) -> str:
        """Name the head of a partition: its epoch, offset and counts."""
        return f"{self._prefix}{{{partition}}}{self._suffix}"

    def partition_campaigns(self, partition: str) -> str:
        """Name the set of a partition's campaigns."""
        return f"{self.partition(partition)}:campaigns"

    def partition_outbox(self, partition: str) -> str:
        """Name what the partition's last batch emits besides its campaigns' outputs."""
        return f"{self.partition(partition)}:outbox"

    @property
    def _prefix(self) -> str:
        return f"judgestream:{self.namespace}:" if self.namespace else "judgestream:"

    @property
    def _suffix(self) -> str:
        return f":{self.layer}" if self.layer else ""
