"""The Redis keys. No other module knows them."""

from __future__ import annotations

from dataclasses import dataclass


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

        The tables are meta, systems, judges, segments, pairs, cells, replicas, seen, leaderboard and outbox. The hash
        meta holds epoch, partition and offset, and under `campaign` the encoded CampaignMeta.
        """
        return f"{self._prefix}{{{campaign}}}{self._suffix}:{table}"

    def partition(self, partition: str) -> str:
        """Return the key of a partition's head: its epoch, offset and counts."""
        return f"{self._prefix}{{{partition}}}{self._suffix}"

    def partition_campaigns(self, partition: str) -> str:
        """Return the key of the set of a partition's campaigns."""
        return f"{self.partition(partition)}:campaigns"

    def partition_outbox(self, partition: str) -> str:
        """Return the key of the outputs of the partition's last batch that belong to no campaign."""
        return f"{self.partition(partition)}:outbox"

    @property
    def _prefix(self) -> str:
        return f"judgestream:{self.namespace}:" if self.namespace else "judgestream:"

    @property
    def _suffix(self) -> str:
        return f":{self.layer}" if self.layer else ""
