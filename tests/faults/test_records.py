"""Records that are bad, come again, or tell strange times: each ends as applied, duplicate or rejected."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.core.campaign.state import CampaignMeta, SystemRow, decode_row
from streams.pipeline.embedded import Embedded
from streams.pipeline.originals import without_judge
from streams.wire import topics
from streams.wire.events import (
    EPOCH,
    LONGEST_JUMP,
    CampaignSettings,
    Create,
    MatchRequest,
    Rejection,
    encode,
)
from tests.builders import NOON, crowd_log, judgment
from tests.pipeline.test_processor import POISON

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
        (2 * number + 1, reason, field, without_judge(value, Pseudonyms(stack.settings.judge_key.encode())).value)
        for number, (value, reason, field) in enumerate(POISON.values())
    ]
    assert stack.applied() == {f"id-{1000 + number}" for number in range(len(POISON) + 1)}
    stack.assert_undisturbed(records=len(records))


def test_undecodable_bytes_stop_their_partition_and_the_others_go_on(stack_on: StackOn) -> None:
    limit = 50
    stack = stack_on(JUDGESTREAM_MAX_UNDECODABLE_IN_A_ROW=str(limit))
    stack.send(0, [(b"c", b"\x00\x01 avro")] * 400)
    for round_ in range(2):  # a restart stops there again, and nowhere else
        worker = stack.start_worker()
        stack.wait_for(lambda: worker.said("is stopped, the other partitions go on"), "stopped")  # noqa: B023
        stack.send(1, [(b"other", encode(judgment(round_, campaign="other")))])
        stack.wait_for(lambda: f"id-{round_}" in stack.applied(), "the other partition is rated")  # noqa: B023
        assert worker.process.poll() is None
        said = worker.log.read_text()
        assert "Traceback" not in said
        assert said.count("is stopped") == 1
        for words in (f"max_undecodable_in_a_row = {limit}", "invalid_json", "judgestream rejected list"):
            assert words in said, said
        worker.terminate()
    ids = {rejection.id for rejection in rejections(stack)}
    assert 0 < len(ids) <= limit

    # The way out: let them through, and what comes behind them is applied.
    stack.more["JUDGESTREAM_MAX_UNDECODABLE_IN_A_ROW"] = "0"
    stack.more["JUDGESTREAM_MAX_UNDECODABLE_SHARE"] = "1"
    stack.send(0, [(b"c", encode(judgment(7)))])
    stack.start_worker()
    stack.wait_until_read(403)
    assert stack.applied() == {"id-0", "id-1", "id-7"}
    stack.wait_for(lambda: len({rejection.id for rejection in rejections(stack)}) == 400, "all rejections")
    stack.assert_undisturbed(records=403)


def test_too_great_a_share_of_undecodable_bytes_stops_the_partition_too(stack_on: StackOn) -> None:
    stack = stack_on(JUDGESTREAM_MAX_UNDECODABLE_SHARE="0.5", JUDGESTREAM_UNDECODABLE_WINDOW="100")
    good = [(b"c", encode(judgment(number))) for number in range(400)]
    bad = (b"c", b"{")
    stack.publish([record for each in good for record in (bad, each, bad)])
    worker = stack.start_worker()
    stack.wait_for(lambda: worker.said("max_undecodable_share"), "stopped")
    assert worker.process.poll() is None
    stack.caught_midway(3 * len(good))
    stack.assert_same(stack.undisturbed(stack.persisted()))


def test_a_thousand_and_one_judgments_of_an_unknown_system_stop_nothing(stack_on: StackOn) -> None:
    stack = stack_on(batch=2000)
    create = Create(id="create", campaign="c", at=NOON, settings=CampaignSettings(systems=("a", "b")))
    wrong = [(b"c", encode(judgment(number, systems=("a", "typo")))) for number in range(1001)]
    stack.publish([(b"c", encode(create)), *wrong, (b"c", encode(judgment(2000)))])
    worker = stack.start_worker()
    stack.wait_until_read(1003)
    counts = meta(stack, "c").counts
    assert (counts.judgments, counts.rejected) == (1, 1001)
    assert worker.process.poll() is None
    assert not worker.said("is stopped")


def test_a_judgment_that_comes_again_is_applied_once_wherever_it_comes(stack: FaultStack) -> None:
    log = [(entry.campaign.encode(), encode(entry)) for entry in crowd_log(300, seed=41)]
    stack.start_worker()
    stack.send(0, log)  # so it lives on partition 0, whatever its key says
    stack.wait_until_read(300)
    stack.send(0, log[:100])
    stack.send(2, log[200:])
    stack.send(0, log[250:])
    stack.wait_until_read(300 + 100 + 2 * 100 + 50)  # those on partition 2 are forwarded
    counts = meta(stack, "campaign-0").counts
    assert (counts.judgments, counts.duplicates, counts.rejected) == (300, 250, 0)
    assert stack.store.read_partition(stack.partitions[2])["forwarded"] == "100"
    assert rejections(stack) == []
    stack.assert_undisturbed(records=650)


def test_a_new_campaign_on_two_partitions_at_once_lives_on_one(stack: FaultStack) -> None:
    log = [(b"x", encode(entry)) for entry in crowd_log(100, seed=42)]
    for partition in range(4):
        stack.send(partition, log)
    for _ in range(2):
        stack.start_worker()
    stack.wait_until_read(700)  # 300 are forwarded
    counts = meta(stack, "campaign-0").counts
    assert (counts.judgments, counts.duplicates, counts.rejected) == (100, 300, 0)
    heads = [stack.store.read_partition(name) for name in stack.partitions]
    assert sorted(int(head["forwarded"]) for head in heads) == [0, 100, 100, 100]
    assert rejections(stack) == []


def test_times_out_of_order_late_and_in_the_future_change_no_rating(stack: FaultStack) -> None:
    log = crowd_log(200, seed=43)
    future = NOON + timedelta(days=200)
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
    rows = {name: decode_row(row, SystemRow) for name, row in stored.tables["systems"].items()}
    ratings = orderly.campaign("campaign-0").ratings()
    assert {name: (row.mean, row.deviation, row.judgments) for name, row in rows.items()} == {
        rating.system: (rating.mean, rating.deviation, rating.judgments) for rating in ratings
    }

    # What was asked for before the future came is over by then, and is asked for anew; none is lost for good.
    requests = [msgspec.json.decode(value, type=MatchRequest) for value in stack.values(topics.MATCH_REQUESTS)]
    out = {each.id for each in meta(stack, "campaign-0").outstanding}
    assert len(out) == meta(stack, "campaign-0").status.settings.outstanding
    assert out <= {request.id for request in requests}
    assert all(request.expires_at > clock for request in requests if request.id in out)
