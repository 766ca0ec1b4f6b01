"""The checks at the end of a soak find what they are there for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.events import Rating, encode
from streams.wire.outputs import Output
from tests.builders import crowd_log
from tests.soak import checks

TOPIC = "judgments.v1"
SETTINGS = Settings(judge_key="key")
HEADS = [f"{TOPIC}/0"]
VALUES = [*(encode(entry) for entry in crowd_log(60, campaigns=3, seed=1)), b"bad"]
LOG = [Record(offset, b"key", value) for offset, value in enumerate(VALUES)]


def run(log: Sequence[Record]) -> tuple[MemoryStore, list[Record], list[bytes]]:
    """Return the state, the ratings and the rejections of a worker."""
    store, outputs = MemoryStore(), list[Output]()
    processor, _ = Processor.open(TOPIC, 0, store, ProcessorOptions.from_settings(SETTINGS))
    for start in range(0, len(log), 7):
        outputs += processor.process(log[start : start + 7])
    ratings = [Record(0, output.key, output.value) for output in outputs if output.topic == topics.RATINGS.name]
    return store, ratings, [output.value for output in outputs if output.topic == topics.REJECTED.name]


def problems(store: MemoryStore, ratings: Sequence[Record], rejections: Sequence[bytes]) -> list[str]:
    calm = checks.replay(TOPIC, [LOG], SETTINGS, first=[5])
    return [
        *checks.unaccounted(store, HEADS, ends=[len(LOG)], missing=[0]),
        *checks.differences(store, calm.store, HEADS),
        *checks.wrong_rejections(rejections, calm),
        *checks.wrong_ratings(ratings, store, HEADS),
    ]


def test_a_calm_run_has_no_problems() -> None:
    assert problems(*run(LOG)) == []


def test_a_record_that_nobody_read_is_named() -> None:
    assert "judgments.v1/0: read is 60, calm 61" in problems(*run([*LOG[:30], *LOG[31:]]))


def test_offsets_that_do_not_add_up_are_named() -> None:
    store, _, _ = run(LOG)
    (problem,) = checks.unaccounted(store, HEADS, ends=[len(LOG)], missing=[3])
    assert problem == "judgments.v1/0 counts 0 missing offsets, and 3 were deleted before they were read"


@pytest.mark.parametrize("wrong", [[*LOG[:30], LOG[33]._replace(offset=30), *LOG[31:]], LOG[:-1]], ids=["lost", "late"])
def test_a_state_that_is_not_that_of_a_calm_run_is_named(wrong: list[Record]) -> None:
    (campaign,) = {str(msgspec.json.decode(LOG[30].value or b"")["campaign"])}
    found = problems(*run(wrong))
    assert any(line.startswith((f"{campaign}: meta is", f"{HEADS[0]}: read is 60")) for line in found)


def test_a_rejection_that_was_not_sent_is_named() -> None:
    store, ratings, _ = run(LOG)
    (problem,) = problems(store, ratings, [])
    assert problem.startswith("the rejection judgments.v1/0/60 was not sent: invalid_json")


def test_an_old_rating_after_a_newer_one_is_named() -> None:
    store, ratings, rejections = run(LOG)
    (problem,) = problems(store, [*ratings, ratings[0]], rejections)
    old = msgspec.json.decode(ratings[0].value or b"", type=Rating)
    assert problem.startswith(f"{old.campaign}/{old.system}: the newest rating is")
