"""Events of a soak that take data away: from the head of the log, and from Redis."""

from __future__ import annotations

import json

from streams.stores.redis.keys import PartitionPart
from tests.soak.errors import SoakError
from tests.soak.fleet import State
from tests.soak.scene import Scene
from tests.waiting import wait_for

SHORTEST_GAP, LONGEST_GAP = 10, 200
MOST_GAPS = 2
CAMPAIGN_KEYS = ("meta", "seen", "systems", "judges", "segments", "pairs", "cells", "replicas", "votes", "leaderboard")


# -- the log ------------------------------------------------------------------------------------------------


def delete_head(scene: Scene) -> str | None:
    """Delete records of a short partition that workers have applied, which is harmless."""
    partition = scene.chance.choice(scene.places.short)
    applied = _applied(scene, partition)
    safe = min(applied, scene.copy.ends[partition])
    begins = scene.deleted.get(partition, 0)
    if safe <= begins:
        return None
    offset = scene.chance.randrange(begins, safe) + 1
    scene.delete_before(partition, offset)
    return f"the log of partition {partition} begins at offset {offset}; {applied} were applied"


def open_gap(scene: Scene) -> str | None:
    """Delete records that no worker has read, while all are down. The operator then accepts the gap."""
    found = sum(map(len, scene.missing.values()))
    if found == MOST_GAPS or len(scene.fleet.among(State.RUNNING)) < len(scene.fleet.members):
        return None
    partition = scene.chance.choice(scene.places.short)
    scene.fleet.terminate_all()
    start = _applied(scene, partition)
    wait_for(lambda: scene.copy.ends[partition] > start + SHORTEST_GAP, "records that no worker has read")
    end = min(start + scene.chance.randrange(SHORTEST_GAP, LONGEST_GAP), scene.copy.ends[partition])
    ahead = [
        place.campaign
        for place in scene.places.campaigns
        if place.partition == partition and int(scene.stack.store.read_head(place.campaign).get("offset", -1)) >= start
    ]
    if not ahead:  # what a campaign has of a batch that was cut off is not lost
        scene.delete_before(partition, end)
    scene.fleet.start_all()
    if ahead:
        return f"no gap: {ahead} are ahead of partition {partition}"
    scene.missing.setdefault(partition, []).append(range(start, end))
    place = f"{scene.head(partition)}:{start}-{end}"
    wait_for(lambda: place in _open_gaps(scene), lambda: f"the gap {place} is found; now {_open_gaps(scene)}", pause=1)
    accepted = scene.stack.command("gaps", "--accept", place, "--yes")
    if accepted.returncode != 0:
        raise SoakError(f"judgestream gaps --accept {place}: {accepted.stderr}")
    return f"the records {place} were deleted before they were read, and the gap is accepted"


def _open_gaps(scene: Scene) -> list[str]:
    scene.check()
    listed = scene.stack.command("gaps", "--json")
    gaps = json.loads(listed.stdout or '{"gaps": []}')["gaps"]
    return [f"{gap['partition']}:{gap['start']}-{gap['end']}" for gap in gaps if gap["accepted"] is None]


def _applied(scene: Scene, partition: int) -> int:
    return int(scene.stack.store.read_partition(scene.head(partition)).get("offset", 0))


# -- Redis --------------------------------------------------------------------------------------------------


def evict(scene: Scene) -> str:
    """Delete keys of some campaigns, as a Redis that is full and may evict would."""
    keys, lost = scene.stack.store.keys, list[str]()
    for place in scene.chance.sample(scene.places.long, k=scene.chance.randrange(1, 4)):
        parts = scene.chance.sample(CAMPAIGN_KEYS, k=scene.chance.randrange(1, 4))
        lost += [keys.campaign(place.campaign, part) for part in parts]
    gone = [key for key in lost if scene.stack.store.client.redis.delete(key)]
    return f"lost keys: {', '.join(gone) or 'none'}"


def evict_head(scene: Scene) -> str:
    """Delete the head of a partition, or the list of its campaigns."""
    partition = scene.head(scene.chance.choice(scene.places.long).partition)
    parts: tuple[PartitionPart, ...] = ("head", "campaigns")
    key = scene.stack.store.keys.partition(partition, scene.chance.choice(parts))
    scene.stack.store.client.redis.delete(key)
    return f"lost key: {key}"


def age_shard(scene: Scene) -> str | None:
    """Copy the data of a Redis node now, and put it back a while later, as from an older snapshot."""
    # The last node holds the short partitions: their log is not whole, so they can't be rated again.
    candidates = [node for node in scene.redis.nodes[:-1] if node.process is not None and not node.old.exists()]
    if not candidates:
        return None
    node = scene.chance.choice(candidates)
    number = scene.redis.nodes.index(node)
    node.keep_copy()

    def set_back() -> None:
        node.end(patience=0)
        node.set_back()
        scene.redis.start_node(node)

    seconds = scene.chance.uniform(3, 30)
    scene.after(seconds, f"Redis node {number} is set back by {seconds:.0f} s", set_back)
    return f"the data of Redis node {number} is copied"
