"""Changed verdicts in a stream: remembered or not, in rows or columns, the state is that of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from streams.pipeline.embedded import Embedded
from streams.pipeline.taking_back import MOST_IDS, make_retractions
from streams.settings import Settings
from streams.wire import topics
from streams.wire.decoding import decode
from streams.wire.events import CampaignSettings, Create, Judgment, Retract, RevokeVerdicts, encode
from tests.builders import NOON, crowd_log, judgment
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Command, Leaderboard

    Event = Judgment | Command

NAME = "campaign-0"


def changing_log(count: int, *, changes: int, far: int, seed: int = 1) -> list[Event]:
    """Return a log in which judges change verdicts up to `far` judgments ago, and revoke some."""
    random = np.random.default_rng(seed)
    log: list[Event] = list(crowd_log(count, seed=seed))
    for number in range(changes):
        place = int(random.integers(10, len(log)))
        earlier = [each for each in log[max(0, place - far) : place] if isinstance(each, Judgment)]
        of = earlier[int(random.integers(len(earlier)))]
        named = of.replaces or of.id
        if number % 4 == 3:
            revoke = RevokeVerdicts(id=f"revoke-{number}", campaign=NAME, at=of.at, judge=of.judge, judgments=(named,))
            log.insert(place, revoke)
        else:
            ranks = tuple(int(rank) for rank in random.permutation(2) + 1)
            log.insert(place, msgspec.structs.replace(of, id=f"changed-{number}", ranks=ranks, replaces=named))
    return log


def streamed(log: Sequence[Event], *, at_once: bool = True, **settings: object) -> Embedded:
    stream = Embedded(Settings(judge_key="key", snapshot_judgments=0, **settings))  # type: ignore[arg-type]
    for event in log:
        stream.publish(event)
        if not at_once:
            stream.run()
    stream.run()
    return stream


def replayed(stream: Embedded, **settings: object) -> Embedded:
    """Rate the log of a stream once more."""
    events = [decode(record.value, max_bytes=10**6) for record in stream.log.all(topics.JUDGMENTS.name)]
    return streamed(events, **settings)  # type: ignore[arg-type]


def retractions(stream: Embedded) -> list[Retract]:
    found = (decode(record.value, max_bytes=10**6) for record in stream.log.all(topics.JUDGMENTS.name))
    return [event for event in found if isinstance(event, Retract)]


def last_versions(log: Sequence[Event]) -> list[Event]:
    """Return the log without the verdicts that a later record changes or revokes."""
    gone: set[str] = set()
    kept: list[Event] = []
    for event in reversed(log):
        if isinstance(event, Judgment):
            if not gone & {event.id, event.replaces or event.id}:
                kept.append(msgspec.structs.replace(event, replaces=None))
            gone |= {event.replaces} if event.replaces else set()
        elif isinstance(event, RevokeVerdicts):
            gone |= {*event.judgments}
    return kept[::-1]


def board(stream: Embedded) -> Leaderboard:
    found = stream.campaign(NAME).leaderboard()
    return msgspec.structs.replace(found, sequence=0, offset=0, left_out={}, cautions=())


def state_of(stream: Embedded) -> str:
    return state_hash(stream.store, [f"{topics.JUDGMENTS.name}/0"])


def opened(window: int) -> Create:
    settings = CampaignSettings(repeat_window=window, outstanding=0)
    return Create(id="create", campaign=NAME, at=NOON, settings=settings)


@pytest.mark.parametrize(("window", "far"), [(20_000, 100), (30, 400)])
def test_the_board_follows_and_a_replay_in_any_batches_is_the_same(window: int, far: int) -> None:
    log = [opened(window), *changing_log(600, changes=60, far=far)]
    stream = streamed(log)
    assert stream.campaign(NAME).verdicts.waiting == {}
    assert board(stream) == board(streamed([opened(window), *last_versions(log)]))
    for batch in (1, 7, 250):
        assert state_of(replayed(stream, batch_records=batch)) == state_of(stream)


def test_remembered_verdicts_need_no_rerun_after_the_first() -> None:
    log = changing_log(600, changes=60, far=100)
    stream = streamed(log, batch_records=50)
    assert len(retractions(stream)) == 1
    later = judgment(9_000, campaign=NAME, systems=("system-0", "system-1"))
    stream.publish(later)
    changed = msgspec.structs.replace(later, id="later", ranks=(2, 1), replaces=later.id)
    stream.publish(changed)
    stream.run()
    assert len(retractions(stream)) == 1
    assert board(stream) == board(streamed(last_versions([*log, changed])))


def test_a_stream_that_is_rated_record_by_record_ends_with_the_same_board() -> None:
    log = [opened(40), *changing_log(150, changes=25, far=120)]
    one_by_one = streamed(log, at_once=False)
    assert len(retractions(one_by_one)) > len(retractions(streamed(log)))
    assert board(one_by_one) == board(streamed(log))
    assert state_of(replayed(one_by_one)) == state_of(one_by_one)


def test_many_verdicts_are_taken_back_by_few_commands() -> None:
    log: list[Event] = [opened(20_000), *crowd_log(10)]
    for number in range(MOST_IDS + 1):
        of = judgment(50_000 + number, campaign=NAME, systems=("system-0", "system-1"))
        log.append(msgspec.structs.replace(of, replaces=f"unknown-{number}"))
    stream = streamed(log)
    assert [sum(map(len, each.taken_back.values())) for each in retractions(stream)] == [MOST_IDS, 1]
    assert stream.campaign(NAME).counts.judgments == 10 + MOST_IDS + 1


def test_a_command_with_the_longest_ids_is_not_too_large() -> None:
    stream = streamed([opened(20_000)])
    meta = stream.campaign(NAME).meta
    verdicts = meta.verdicts
    waiting = {"a" * 20: {"\U0001f600" * 195 + f"{n:05}": 2**53 for n in range(MOST_IDS)}}
    meta = msgspec.structs.replace(meta, verdicts=msgspec.structs.replace(verdicts, waiting=waiting))
    (command,) = make_retractions(meta, at=NOON)
    assert len(encode(command)) < Settings().max_record_bytes
