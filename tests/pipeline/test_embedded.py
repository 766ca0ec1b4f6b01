"""The embedded way end to end: a log in, leaderboards out, the same whatever the batches and partitions."""

from __future__ import annotations

import msgspec
import pytest

from streams.core.models import MODELS
from streams.errors import JudgestreamError
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.stores.commit import Outcomes
from streams.wire import events, topics
from streams.wire.events import Leaderboard, encode
from tests.builders import NOON, crowd_log
from tests.faulty_model import faulty

LOG = crowd_log(300, campaigns=3)


def boards(*, batch: int, partitions: int) -> dict[str, tuple[object, ...]]:
    stream = Embedded(Settings(batch_records=batch), partitions=partitions)
    for entry in LOG:
        stream.publish(entry)
    assert stream.run() == len(LOG)
    stream.snapshot()
    found = [msgspec.json.decode(record.value or b"", type=Leaderboard) for record in stream.log.all("leaderboards.v1")]
    return {board.campaign: (board.rows, board.judgments, board.sequence) for board in found}


@pytest.mark.parametrize(("batch", "partitions"), [(1, 1), (7, 1), (1000, 1), (7, 3), (1000, 5)])
def test_batches_and_partitions_do_not_show_in_the_leaderboards(batch: int, partitions: int) -> None:
    assert boards(batch=batch, partitions=partitions) == boards(batch=50, partitions=1)


def test_the_counts_add_up_to_the_records_read() -> None:
    stream = Embedded(partitions=2)
    for entry in LOG[:50]:
        stream.publish(entry)
        stream.publish(entry)
    stream.log.append(topics.JUDGMENTS.name, b"x", b"{}")
    assert stream.run() == 101
    assert stream.counts() == Outcomes(read=101, applied=50, duplicate=50, rejected=1)


def test_a_quarantined_campaign_is_an_error_with_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "trueskill", faulty("apply", name="trueskill"))
    stream = Embedded()
    for entry in LOG[:50]:
        stream.publish(entry)
    stream.run()
    with pytest.raises(JudgestreamError, match=r"campaign-0.* quarantined .*the model fails in apply"):
        stream.campaign("campaign-0")


def test_run_goes_on_where_it_stopped() -> None:
    stream = Embedded()
    stream.publish(LOG[0])
    assert stream.run() == 1
    assert stream.run() == 0
    stream.publish(LOG[1])
    assert stream.run() == 1


def test_what_is_emitted_can_be_read_from_its_topic() -> None:
    stream = Embedded()
    stream.log.append(topics.JUDGMENTS.name, b"campaign-0", encode(LOG[0]))
    stream.run()
    assert len(stream.log.all(topics.MATCH_REQUESTS.name)) == 8
    assert len(stream.log.all(topics.RATINGS.name)) == 2


def test_a_retraction_reads_the_log_again() -> None:
    stream, never = Embedded(Settings(batch_records=7)), Embedded()
    for entry in LOG:
        stream.publish(entry)
        if entry.id not in {"id-3", "id-150"}:
            never.publish(entry)
    stream.publish(events.Retract(id="r", campaign="campaign-0", at=NOON, judgments=("id-3", "id-150")))
    stream.run()
    never.run()
    for name in ("campaign-0", "campaign-1", "campaign-2"):
        boards = [each.campaign(name).leaderboard().rows for each in (stream, never)]
        assert {row.system: row for row in boards[0]} == {row.system: row for row in boards[1]}
    assert stream.counts() == Outcomes(read=301, applied=301)
