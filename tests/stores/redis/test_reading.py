"""No call reads or writes more than some thousand rows, however large a campaign is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from streams.errors import Conflict
from streams.stores.commit import MOST_ROWS
from streams.stores.memory import MemoryStore
from streams.stores.redis import reading
from streams.stores.redis.reading import ATTEMPTS, ROWS_AT_ONCE
from streams.stores.redis.staging import PART, Staging
from streams.stores.redis.store import RedisStore
from tests.stores.test_conformance import HOME, change, commit
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streams.core.campaign.state import CampaignChange
    from streams.stores import Lease

pytestmark = pytest.mark.integration
ROWS = 3 * ROWS_AT_ONCE


@pytest.fixture(params=["servers", "cluster"])
def live(request: pytest.FixtureRequest, namespace: str) -> Iterator[RedisStore]:
    server = request.getfixturevalue(request.param)
    store = RedisStore(server if isinstance(server, str) else server.redis, namespace=namespace)
    yield store
    store.close()


def large(before: int = -1, after: int = 4, *, row: bytes = b"{}") -> CampaignChange:
    made = change(before, after, row=row, seen=tuple(f"id-{number}" for number in range(ROWS)), kept=2 * ROWS)
    for table in ("judges", "segments", "cells", "categories"):
        made.tables[table].update({f"{table}-{number}": row for number in range(ROWS)})
    return replace(made, whole=before < 0)


def small(before: int, after: int) -> CampaignChange:
    made = change(before, after, row=b"new")
    made.tables["judges"][f"new-{after}"] = b"new"
    return made


def values(reply: Any) -> int:
    """Return the number of values in a reply of Redis."""
    if isinstance(reply, dict):
        return 2 * len(reply)
    return sum(values(each) for each in reply) if isinstance(reply, list | tuple) else 1


@pytest.fixture
def sizes(live: RedisStore, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Record the largest number of arguments, and of values in a reply, of each command."""
    largest: dict[str, int] = {}
    execute: Any = live.client.redis.execute_command

    def recorded(*arguments: Any, **options: Any) -> Any:
        reply = execute(*arguments, **options)
        command = str(arguments[0])
        largest[command] = max(largest.get(command, 0), values(reply), len(arguments))
        return reply

    monkeypatch.setattr(live.client.redis, "execute_command", recorded)
    return largest


def persisted(store: RedisStore | MemoryStore, *changes: CampaignChange) -> Lease:
    lease, _ = store.open(HOME)
    at = 0
    for number, each in enumerate(changes, 1):
        store.persist(lease, commit(at, number, each))
        at = number
    return lease


def test_a_large_campaign_reads_as_it_was_written(live: RedisStore) -> None:
    memory = MemoryStore()
    for store in (live, memory):
        persisted(store, large(), small(4, 5))
    assert live.read("c") == memory.read("c")
    assert live.read("c", with_seen=False) == memory.read("c", with_seen=False)
    (one, _), (other, _) = live.open(HOME), memory.open(HOME)
    assert live.load(one, "c") == memory.load(other, "c")


def test_a_look_at_a_large_campaign_takes_many_small_calls(live: RedisStore, sizes: dict[str, int]) -> None:
    lease = persisted(live, large())
    sizes.clear()
    live.read("c", with_seen=False)
    live.load(lease, "c")
    assert live.find_problems(HOME) == {}
    live.verify(lease, 1, {"c": 4})
    assert {"HSCAN", "LRANGE"} <= sizes.keys()
    # A call of HSCAN returns somewhat more than it is asked for.
    assert max(sizes.values()) <= 3 * ROWS_AT_ONCE


def test_a_large_campaign_is_staged_swapped_and_removed_with_small_calls(
    live: RedisStore, sizes: dict[str, int]
) -> None:
    lease = persisted(live, large())
    sizes.clear()
    Staging(live).put_campaign(lease, large(row=b"put"))
    staged = replace(large(row=b"staged"), after=0)
    for _ in range(2):  # the second time nothing changes
        live.stage(lease, staged, position=7)
    found = live.read_staged(lease, "c")
    assert found is not None
    assert (found.step, found.position, found.state.tables["judges"]["judges-7"]) == (0, 7, b"staged")
    live.swap_staged(lease, "c", offset=9)
    live.remove(lease, "c")
    assert max(sizes.values()) <= max(2 * PART, 3 * ROWS_AT_ONCE)


def test_what_is_replaced_is_freed_in_the_background(live: RedisStore) -> None:
    lease = persisted(live, large())
    staging = Staging(live)
    staging.put_campaign(lease, large(row=b"fresh"))

    def memory() -> dict[str, int]:
        return live.client.first.info("memory")

    wait_for(lambda: memory()["lazyfree_pending_objects"] == 0)
    before = memory()["lazyfreed_objects"]
    staging.swap_campaign(lease, "c")
    wait_for(lambda: memory()["lazyfreed_objects"] >= before + 3, "judges, segments and cells are freed")


def test_a_step_that_was_interrupted_between_its_parts_is_of_no_use(
    live: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = persisted(live, large())
    live.stage(lease, replace(large(), after=0), position=7)
    parts = iter(range(2))
    write = RedisStore.write
    monkeypatch.setattr(RedisStore, "write", lambda *arguments: [next(parts), write(*arguments)])
    with pytest.raises(StopIteration):
        live.stage(lease, replace(large(0, 1), whole=False), position=9)
    monkeypatch.undo()
    assert live.read_staged(lease, "c") is None


def interrupting(monkeypatch: pytest.MonkeyPatch, write: Callable[[int], None]) -> None:
    """Call a function in the middle of each reading in parts."""
    read, times = reading._read_parts, iter(range(100))

    def read_parts(*arguments: Any, **options: Any) -> Any:
        found = read(*arguments, **options)
        write(next(times))
        return found

    monkeypatch.setattr(reading, "_read_parts", read_parts)


def test_a_large_campaign_that_changes_once_is_read_again_with_its_ids(
    live: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = persisted(live, large())
    expected = MemoryStore()
    persisted(expected, large(), small(4, 5))

    def write(time: int) -> None:
        if time == 0:
            live.persist(lease, commit(1, 2, small(4, 5)))

    interrupting(monkeypatch, write)
    assert live.read("c") == expected.read("c")


def test_a_large_campaign_that_never_stands_still_shows_the_newest_systems(
    live: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = persisted(live, large())

    def write(time: int) -> None:
        live.persist(lease, commit(1 + time, 2 + time, small(4 + time, 5 + time)))

    interrupting(monkeypatch, write)
    found = live.read("c", with_seen=False)
    assert found is not None
    assert (found.offset, found.tables["systems"]["a"], found.problem) == (5, b"new", None)
    assert len(found.tables["judges"]) == ROWS
    with pytest.raises(Conflict, match=f"changed each of the {ATTEMPTS} times"):
        live.read("c")


def test_ids_of_an_earlier_layout_go_on_one_by_one(live: RedisStore) -> None:
    lease, _ = live.open(HOME)
    live.persist(lease, commit(0, 5, change(-1, 4, seen=())))
    key = live.keys.campaign("c", "seen")
    live.client.redis.rpush(key, *(f"old-{number}" for number in range(5)))
    head = live.keys.campaign("c", "meta")
    rows: Any = live.client.redis.hget(head, "rows")
    live.client.redis.hset(head, "rows", rows.replace(b"seen=0", b"seen=5"))
    live.persist(lease, commit(5, 9, change(4, 8, seen=("new-1", "new-2"), kept=4)))
    stored = live.read("c")
    assert stored is not None
    assert stored.seen == ("old-3", "old-4", "new-1", "new-2")
    assert live.client.redis.llen(key) == 3
    assert live.has_seen("c", "old-4")


def test_batches_of_several_partitions_with_many_rows_take_several_calls(
    live: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    half, commits = MOST_ROWS // 2, []
    for number in range(4):
        made = change(-1, 4, campaign=f"c-{number}")
        made.tables["pairs"].update({str(pair): b"row" for pair in range(half - 2)})
        lease, _ = live.open(f"judgments.v1/{number}")
        commits.append((lease, commit(0, 5, made)))
    longest, run = 0, live.client.run

    def recorded(script: str, *, keys: Sequence[str], args: Sequence[Any]) -> Any:
        nonlocal longest
        longest = max(longest, len(args))
        return run(script, keys=keys, args=args)

    monkeypatch.setattr(live.client, "run", recorded)
    assert live.persist_all(commits) == [None] * 4
    assert longest < 2 * MOST_ROWS + 200, "a field and a value per row, and the heads of two partitions"
    for number in range(4):
        found = live.read(f"c-{number}")
        assert found is not None
        assert len(found.tables["pairs"]) == half - 2
