"""A worker sends the commands for changed verdicts: many at once, not too often, and not again if they are refused."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from streams.errors import BrokerUnavailable
from streams.pipeline.embedded import Embedded
from streams.pipeline.taking_back import WAIT_SECONDS
from streams.settings import Settings
from streams.wire.decoding import decode_command
from streams.wire.events import Judgment, Retract
from streams.worker.taking_back import TakingBack
from tests.builders import judgment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.wire.outputs import Output


class Rater:
    """Calls functions at once, and keeps what is emitted."""

    def __init__(self) -> None:
        self.sent: list[Retract] = []
        self.is_away = False

    async def ask(self, _: object, read: Callable[[], Any]) -> Any:
        return read()

    async def ask_all(self, ownerships: Sequence[Any], read: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
        return [(each, read(each.processor)) for each in ownerships]

    async def emit(self, outputs: Sequence[Output]) -> None:
        if self.is_away:
            raise BrokerUnavailable("the broker does not answer")
        self.sent += [cast("Retract", decode_command(each.value, max_bytes=10**6)) for each in outputs]


def changed(number: int) -> Judgment:
    return msgspec.structs.replace(judgment(number), replaces=f"unknown-{number}")


@pytest.fixture
def stream() -> Embedded:
    stream = Embedded(Settings(judge_key="key"))
    stream._take_back = lambda: 0  # type: ignore[method-assign]  # here the worker does it
    for event in (judgment(1), changed(2), changed(3)):
        stream.publish(event)
    stream.run()
    return stream


def service(stream: Embedded) -> tuple[TakingBack, Rater]:
    ownership = SimpleNamespace(processor=stream.processors[0], is_open=True, log_fields=dict)
    rater = Rater()
    source = SimpleNamespace(open_ownerships=lambda: [ownership])
    return TakingBack(cast("Any", source), cast("Any", rater)), rater


def send(taking_back: TakingBack, *times: float) -> None:
    for now in times:
        asyncio.run(taking_back.send_due(now))


def test_one_command_names_all_verdicts_that_wait(stream: Embedded) -> None:
    taking_back, rater = service(stream)
    send(taking_back, 0.0, WAIT_SECONDS - 1)
    assert rater.sent == []
    send(taking_back, WAIT_SECONDS)
    (command,) = rater.sent
    (ids,) = command.taken_back.values()
    assert ids == {"unknown-2": 1, "unknown-3": 2}
    stream.publish(command)
    stream.run()
    assert stream.campaign("c").verdicts.waiting == {}
    assert stream.campaign("c").counts.judgments == 3


def test_commands_that_were_refused_are_not_sent_again_until_more_verdicts_wait(stream: Embedded) -> None:
    taking_back, rater = service(stream)
    send(taking_back, 0.0, 100.0, 200.0)
    assert len(rater.sent) == 1
    stream.publish(changed(4))
    stream.run()
    send(taking_back, 101.0)
    assert len(rater.sent) == 1, "too soon after the last one"
    send(taking_back, 300.0)
    assert [len(*each.taken_back.values()) for each in rater.sent] == [2, 3]


def test_a_campaign_that_rests_is_not_loaded_for_it(stream: Embedded) -> None:
    processor = stream.processors[0]
    processor._campaigns.leave("c")
    taking_back, rater = service(stream)
    send(taking_back, 0.0, 100.0)
    assert len(rater.sent) == 1
    assert list(processor._campaigns.resting) == ["c"]


def test_they_are_sent_later_if_the_broker_is_away(stream: Embedded) -> None:
    taking_back, rater = service(stream)
    rater.is_away = True
    send(taking_back, 0.0, 100.0)
    rater.is_away = False
    send(taking_back, 101.0)
    assert len(rater.sent) == 1
