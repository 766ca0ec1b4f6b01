"""A new owner of a partition claims its campaigns without loading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.errors import Fenced
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.redis import survey
from streams.wire.events import encode
from tests.builders import judgment
from tests.stores.losses import lose_table

if TYPE_CHECKING:
    from streams.stores import Store

HOME = "judgments.v1/0"
OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))
LOG = [Record(number, None, encode(judgment(number, campaign=f"c-{number % 3}"))) for number in range(12)]


def opened(store: Store, partition: int = 0) -> Processor:
    return Processor.open("judgments.v1", partition, store, OPTIONS)[0]


def test_a_summary_has_the_counts_and_the_outputs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "PART", 2)
    opened(store).process(LOG[:9])
    lease, state = store.open(HOME)
    found = dict(store.survey(lease, state.campaigns))
    assert sorted(found) == ["c-0", "c-1", "c-2"]
    assert [summary and summary.meta.counts.judgments for summary in found.values()] == [3, 3, 3]
    for name, summary in found.items():
        loaded = store.load(lease, name)
        assert loaded is not None
        assert summary is not None
        assert (summary.outbox, summary.offset) == (loaded.outbox, loaded.offset)


@pytest.mark.parametrize("table", ["judges", "meta", "seen"])
def test_a_campaign_with_a_loss_has_no_summary_and_the_others_have(store: Store, table: str) -> None:
    opened(store).process(LOG[:9])
    lose_table(store, "c-1", table)
    lease, state = store.open(HOME)
    found = dict(store.survey(lease, (*state.campaigns, "unknown")))
    assert {name: summary is None for name, summary in found.items()} == {
        "c-0": False,
        "c-1": True,
        "c-2": False,
        "unknown": True,
    }


def test_a_campaign_of_another_partition_stays_there(store: Store) -> None:
    owner = opened(store)
    owner.process(LOG[:9])
    lease, _ = store.open("judgments.v1/1")
    assert dict(store.survey(lease, ["c-0"])) == {"c-0": None}
    owner.process(LOG[9:])


def test_a_former_owner_cannot_write_a_campaign_that_the_new_owner_has_not_loaded(store: Store) -> None:
    former = opened(store)
    former.process(LOG[:9])
    late = former.prepare(LOG[9:])
    owner = opened(store)
    assert owner.campaigns == {}
    epochs = {store.read_head(name)["epoch"] for name in owner.campaign_names}
    assert epochs == {store.read_partition(HOME)["epoch"]}
    with pytest.raises(Fenced):
        former.persist(late)
    owner.process(LOG[9:])
    assert owner.counts().applied == 12
