"""Events of a soak that take data away: from the head of the log, and from Redis."""

from __future__ import annotations

from tests.soak.scene import Scene


def delete_head(scene: Scene) -> str | None:
    """Delete records of a short partition that workers have applied, which is harmless."""
    partition = scene.chance.choice(scene.places.short)
    applied = int(scene.stack.store.read_partition(scene.head(partition)).get("offset", 0))
    safe = min(applied, scene.copy.ends[partition])
    begins = scene.deleted.get(partition, 0)
    if safe <= begins:
        return None
    offset = scene.chance.randrange(begins, safe) + 1
    scene.delete_before(partition, offset)
    return f"the log of partition {partition} begins at offset {offset}; {applied} were applied"
