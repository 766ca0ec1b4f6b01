"""Records that are bad, come again, or tell strange times: each ends as applied, duplicate or rejected."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.core.campaign.state import CampaignMeta
from streams.pipeline.embedded import Embedded
from streams.wire import topics
from streams.wire.events import EPOCH, LATEST, LONGEST_JUMP, MatchRequest, Rejection, encode
from tests.builders import NOON, crowd_log, judgment
from tests.pipeline.test_processor import POISON
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from tests.faults.conftest import StackOn
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration


def rejections(stack: FaultStack) -> list[Rejection]:
    found = [msgspec.json.decode(value, type=Rejection) for value in stack.values(topics.REJECTED)]
    return sorted(found, key=lambda rejection: (rejection.partition, rejection.offset))


def meta(stack: FaultStack, campaign: str) -> CampaignMeta:
    stored = stack.store.read(campaign)
    assert stored is not None
    return msgspec.json.decode(stored.meta, type=CampaignMeta)


def test_every_kind_of_poison_gets_one_rejection_and_its_neighbours_are_applied(stack: FaultStack) -> None:
    records: list[tuple[bytes | None, bytes | None]] = [(b"c", encode(judgment(1000)))]
    for number, (value, _, _) in enumerate(POISON.values()):
        records += [(b"c", value), (b"c", encode(judgment(1001 + number)))]
    stack.publish(records)
    stack.start_worker()
    stack.wait_until_read(len(records))
    stack.wait_for(lambda: len(rejections(stack)) >= len(POISON), "a rejection of each")
    found = [(each.offset, each.reason, each.field, each.original) for each in rejections(stack)]
    assert found == [
        (2 * number + 1, reason, field, value or b"") for number, (value, reason, field) in enumerate(POISON.values())
    ]
    assert stack.applied() == {f"id-{1000 + number}" for number in range(len(POISON) + 1)}
    stack.assert_undisturbed(records=len(records))


def test_nothing_but_poison_stops_the_worker_at_the_limit(stack_on: StackOn) -> None:
    limit = 50
    stack = stack_on(JUDGESTREAM_MAX_REJECTED_IN_A_ROW=str(limit))
    stack.publish([(b"c", b'{"no": "judgment"}')] * 400)
    for _ in range(4):
        worker = stack.start_worker()
        assert worker.process.wait(PATIENCE_SECONDS) == 1, stack.worker_logs()
        said = worker.log.read_text()
        assert "Traceback" not in said
        for words in (f"max_rejected_in_a_row = {limit}", "missing_field", "rejected.v1"):
            assert words in said, said
    ids = [rejection.id for rejection in rejections(stack)]
    # A new owner emits the last batch's outputs again: what counts is how many there are by id.
    assert 0 < len(set(ids)) <= limit, f"{len(ids)} rejections were published, {len(set(ids))} of them distinct"

    # The way out: let them through, and what comes behind them is applied.
    stack.more["JUDGESTREAM_MAX_REJECTED_IN_A_ROW"] = "0"
    stack.more["JUDGESTREAM_MAX_REJECTED_SHARE"] = "1"
    stack.publish([(b"c", encode(judgment(1)))])
    stack.start_worker()
    stack.wait_until_read(401)
    assert stack.applied() == {"id-1"}
    assert len({rejection.id for rejection in rejections(stack)}) == 400


def test_too_great_a_share_of_poison_stops_the_worker_too(stack_on: StackOn) -> None:
    stack = stack_on(JUDGESTREAM_MAX_REJECTED_SHARE="0.5", JUDGESTREAM_REJECTED_WINDOW="100")
    good = [(b"c", encode(judgment(number))) for number in range(400)]
    bad = (b"c", b"[]")
    stack.publish([record for each in good for record in (bad, each, bad)])
    worker = stack.start_worker()
    assert worker.process.wait(PATIENCE_SECONDS) == 1, stack.worker_logs()
    said = worker.log.read_text()
    assert "Traceback" not in said
    assert "max_rejected_share" in said
    stack.caught_midway(3 * len(good))
    stack.assert_same(stack.undisturbed(stack.persisted()))


def test_a_judgment_that_comes_again_is_applied_once_wherever_it_comes(stack: FaultStack) -> None:
    log = [(entry.campaign.encode(), encode(entry)) for entry in crowd_log(300, seed=41)]
    stack.start_worker()
    stack.send(0, log)  # so it lives on partition 0, whatever its key says
    stack.wait_until_read(300)
    stack.send(0, log[:100])
    stack.send(2, log[200:])
    stack.send(0, log[250:])
    stack.wait_until_read(300 + 100 + 100 + 50)
    counts = meta(stack, "campaign-0").counts
    assert (counts.judgments, counts.duplicates, counts.rejected) == (300, 150, 0)
    stack.wait_for(lambda: len(rejections(stack)) >= 100, "the rejections")
    assert Counter((each.reason, each.partition) for each in rejections(stack)) == {("wrong_partition", 2): 100}
    stack.assert_undisturbed(records=550)


def test_a_new_campaign_on_two_partitions_at_once_lives_on_one(stack: FaultStack) -> None:
    log = [(b"x", encode(entry)) for entry in crowd_log(100, seed=42)]
    for partition in range(4):
        stack.send(partition, log)
    for _ in range(2):
        stack.start_worker()
    stack.wait_until_read(400)
    counts = meta(stack, "campaign-0").counts
    assert (counts.judgments, counts.duplicates, counts.rejected) == (100, 0, 0)
    stack.wait_for(lambda: len({each.id for each in rejections(stack)}) >= 300, "the rejections")
    assert {each.reason for each in rejections(stack)} == {"wrong_partition"}
    assert len({each.partition for each in rejections(stack)}) == 3


def test_times_out_of_order_late_and_in_the_future_change_no_rating(stack: FaultStack) -> None:
    log = crowd_log(200, seed=43)
    future = LATEST - timedelta(days=1)
    strange = {50: NOON - timedelta(days=300), 60: EPOCH, 70: NOON + timedelta(days=2), 80: future, 90: EPOCH}
    times = [strange.get(number, NOON + timedelta(seconds=(number * 37) % 200)) for number in range(len(log))]
    records = [
        (b"campaign-0", encode(msgspec.structs.replace(entry, at=at))) for entry, at in zip(log, times, strict=True)
    ]
    stack.start_worker()
    stack.publish(records[:40])
    stack.wait_until_read(40)
    # The clock of a campaign is the latest time that its log names so far: never a worker's own.
    assert meta(stack, "campaign-0").clock == max(times[:40])
    stack.publish(records[40:])
    stack.wait_until_read(len(records))
    stack.assert_undisturbed(records=len(records))
    # One event takes it on by a day at most, or one wrong time would keep all requests out for ever.
    clock = times[0]
    for at in times:
        clock = max(clock, min(at, clock + LONGEST_JUMP))
    assert meta(stack, "campaign-0").clock == clock < future

    orderly = Embedded(stack.settings)
    for entry in log:
        orderly.publish(entry)
    orderly.run()
    stored = stack.store.read("campaign-0")
    assert stored is not None
    rows = {name: json.loads(row) for name, row in stored.tables["systems"].items()}
    board = orderly.campaign("campaign-0").leaderboard().rows
    assert {name: (row["mean"], row["deviation"], row["judgments"]) for name, row in rows.items()} == {
        row.system: (row.score, row.deviation, row.judgments) for row in board
    }

    # What was asked for before the future came is over by then, and is asked for anew; none is lost for good.
    requests = [msgspec.json.decode(value, type=MatchRequest) for value in stack.values(topics.MATCH_REQUESTS)]
    out = {each.id for each in meta(stack, "campaign-0").outstanding}
    assert len(out) == meta(stack, "campaign-0").status.settings.outstanding
    assert out <= {request.id for request in requests}
    assert all(request.expires_at > clock for request in requests if request.id in out)
