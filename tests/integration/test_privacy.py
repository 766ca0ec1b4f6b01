"""The id of a judge on a real Kafka and a real Redis: nowhere, whatever is sent over HTTP or with a command."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.stores.redis.outboxes import decode_outbox
from streams.wire import topics
from streams.wire.events import Judgment, Rejection, encode
from tests.builders import crowd_log, judgment
from tests.formats.samples import WEBHOOK
from tests.integration.monitors import monitor_on
from tests.integration.stack import Stack, done
from tests.monitor.site import TOKEN

pytestmark = pytest.mark.integration

SECRET = "secret-person-17"
IN_KAFKA = "secret-person-by-kafka"
NAME = "campaign-0"


def everything_in_redis(stack: Stack) -> bytes:
    """Return all keys and values of the namespace as one text."""
    redis: Any = stack.store.client.redis
    found = []
    for key in redis.keys(f"*{stack.settings.namespace}*"):
        read = {
            b"hash": redis.hgetall,
            b"list": lambda name: redis.lrange(name, 0, -1),
            b"set": redis.smembers,
            b"zset": lambda name: redis.zrange(name, 0, -1),
            b"string": redis.get,
        }[redis.type(key)]
        found += [key, repr(read(key)).encode()]
        if key.endswith(b":outbox"):
            found += [readable(output.value) for output in decode_outbox(redis.get(key))]
    return b"\n".join(found)


def readable(value: bytes) -> bytes:
    """Return a value, and the original record if it is a rejection, which has that in base64."""
    with suppress(msgspec.MsgspecError):
        return value + msgspec.json.decode(value, type=Rejection).original
    return value


def everything_in(stack: Stack, topic: topics.Topic) -> bytes:
    return b"\n".join(
        (record.key or b"") + b" " + readable(record.value or b"")
        for records in stack.read(topic).values()
        for record in records
    )


def plain(entry: Judgment, **changes: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(encode(entry)) | changes
    return found


def test_an_id_that_came_by_http_or_with_a_command_is_found_nowhere(stack: Stack) -> None:
    worker = stack.start_worker(JUDGESTREAM_LOG_LEVEL="DEBUG")
    create = ("campaign", "create", NAME, *(f"--system=system-{number}" for number in range(8)))
    done(stack.command(*create, "--setting", "judge_per_minute=3", "--setting", "too_fast=reject", "--json"))
    log = [replace(each, judge=SECRET if number % 3 else "other") for number, each in enumerate(crowd_log(30))]
    said: list[str] = []
    with monitor_on(stack, JUDGESTREAM_LOG_LEVEL="DEBUG") as monitor:
        stack.wait_for(monitor.is_ready, "ready")

        def ask(path: str, body: object = None, *, content: str = "application/json") -> None:
            if body is None:
                answer = monitor.ask(path, headers=TOKEN)
            else:
                answer = monitor.post(path, body, **{"Content-Type": content})
            said.append(f"{answer.status} {answer.headers} {answer.body!r}")

        here = f"/campaigns/{NAME}"
        ask(f"{here}/judgments", [plain(each) for each in log])
        for wrong in (
            plain(judgment(900, campaign=NAME, judge=SECRET, systems=("nobody", "system-1"))),
            plain(judgment(901, campaign=NAME, judge=SECRET), judge=SECRET * 20),
            plain(judgment(902, campaign=NAME, judge=SECRET), judge={"name": SECRET}),
            plain(judgment(903, campaign=NAME, judge=SECRET), judge=[SECRET]),
            plain(judgment(904, campaign=NAME, judge=SECRET), ranks=[1]),
            plain(judgment(905, campaign=NAME, judge=SECRET), ranks=None, score=3),
            plain(judgment(906, campaign=NAME, judge=SECRET), at="never"),
            f'{{"judge": "{SECRET}", '.encode(),
        ):
            ask(f"{here}/judgments", wrong)
        ask(f"{here}/judgments", plain(judgment(907, judge=SECRET, campaign=NAME, systems=("system-1", "system-2"))))
        by_secret = WEBHOOK.replace(b'"completed_by": 7', b'"completed_by": "%s"' % SECRET.encode())
        ask("/campaigns/studio/label-studio", by_secret)
        stack.wait_until_read(33)
        for arguments in (
            ("exclude", NAME, SECRET),
            ("exclude", NAME, SECRET),  # refused
            ("include", NAME, SECRET),
            ("retract", NAME, "--judge", SECRET, "--yes"),
            ("exclude", NAME, f"{SECRET}-of-another-campaign"),
        ):
            result = stack.command("campaign", *arguments)
            said.append(result.stdout + result.stderr)
        ask(f"{here}/next-match", {"judge": SECRET})
        ask(f"{here}/matches/skip", {"judge": SECRET, "request": "none"})
        for action in ("exclude", "include"):
            ask(f"{here}/commands", {"action": action, "judge": SECRET})
        for path in ("", "/judges", "/rejections", "/requests"):
            ask(f"{here}{path}")
        result = stack.command("rejected", "list", "--json")
        said.append(result.stdout + result.stderr)
        page = stack.command("judges", NAME, "--json")
        assert Pseudonyms(stack.settings.judge_key.encode())["other"] in page.stdout
        forgotten = stack.command("campaign", "forget", SECRET, "--yes")
        said.append(forgotten.stdout + forgotten.stderr)
        assert forgotten.returncode == 0, forgotten.stderr
        logs = monitor.log.read_text() + worker.log.read_text()
    assert "judge_too_fast" in str(said)
    places = {topic.name: everything_in(stack, topic) for topic in topics.TOPICS}
    assert b'"judge":"~' in places["judgments.v1"], "the search finds what is there"
    assert b"judge_excluded" not in places["campaigns.v1"]
    places |= {"redis": everything_in_redis(stack), "answers": "\n".join(said).encode(), "logs": logs.encode()}
    assert NAME.encode() in places["redis"]
    assert [place for place, text in places.items() if SECRET.encode() in text] == []


def test_an_id_that_a_producer_sends_to_kafka_stands_in_the_log_and_nowhere_else(stack: Stack) -> None:
    worker = stack.start_worker(JUDGESTREAM_LOG_LEVEL="DEBUG")
    good = [replace(each, judge=IN_KAFKA) for each in crowd_log(20)]
    bad = [
        encode(replace(good[0], id="tied", systems=("a", "a"), ranks=(1, 2))),
        encode(replace(good[0], id="long", judge=IN_KAFKA * 20)),
        encode(replace(good[0], id="no ranks", ranks=None)),
        b'{"id":"1","campaign":"campaign-0","judge":"%s"}' % IN_KAFKA.encode(),
        b'{"id":"1","campaign":"campaign-0","judge":{"name":"%s"}}' % IN_KAFKA.encode(),
    ]
    stack.publish([(NAME.encode(), value) for value in (*map(encode, good), *bad)])
    stack.wait_until_read(25)
    stack.wait_for(lambda: len(stack.values(topics.REJECTED)) == 5, "the rejections")
    places = {topic.name: everything_in(stack, topic) for topic in topics.TOPICS if topic is not topics.JUDGMENTS}
    listed = stack.command("rejected", "list")
    assert len(done(stack.command("rejected", "list", "--json"))["rejections"]) == 5
    places |= {"redis": everything_in_redis(stack), "logs": worker.log.read_bytes(), "list": listed.stdout.encode()}
    assert [place for place, text in places.items() if IN_KAFKA.encode() in text] == []


def test_a_copy_of_the_log_gives_the_same_board_without_ids_and_without_the_forgotten_judge(
    stack: Stack, tmp_path: Path
) -> None:
    worker = stack.start_worker()
    log = [*crowd_log(120, campaigns=3)]
    stack.publish([(each.campaign.encode(), encode(each)) for each in log[:80]])
    stack.publish([(b"somebody", b"no JSON of judge-1")])
    stack.wait_until_read(81)
    done(stack.command("campaign", "forget", "judge-1", "--yes", "--json"))
    stack.publish([(each.campaign.encode(), encode(each)) for each in log[80:100]])
    stack.wait_until_read(81 + 3 + 20)
    name = f"{stack.settings.namespace}-2"
    copy = ("copy-log", "--to-namespace", name)
    first = done(stack.command(*copy, "--json"))
    assert (first["records"], first["sent"], first["there"], first["moved"]) == (104, 104, 0, [])
    assert (first["emptied"], first["ids"]) == (1, 100)
    assert first["forgotten"] >= 3
    stack.publish([(each.campaign.encode(), encode(each)) for each in log[100:]])
    stack.wait_until_read(124)
    worker.terminate()
    for sent in (20, 0):
        again = done(stack.command(*copy, "--json"))
        assert (again["sent"], again["there"]) == (sent, 124 - sent), "it goes on, and checks what is there"

    other = Stack(replace(stack.settings, namespace=name), tmp_path)
    try:
        old, new = everything_in(stack, topics.JUDGMENTS), everything_in(other, topics.JUDGMENTS)
        assert b"judge-" in old
        assert b"judge-" not in new
        other.start_worker(JUDGESTREAM_JUDGE_KEY="not needed any more")
        other.wait_until_read(124)
        boards = [[each.store.read(f"campaign-{k}") for k in range(3)] for each in (stack, other)]
        for mine, theirs in zip(*boards, strict=True):
            assert mine is not None
            assert theirs is not None
            assert mine.tables == theirs.tables, "to the last bit, with the same names"
            assert mine.scores == theirs.scores
        other.publish([(b"campaign-0", encode(judgment(999, campaign="campaign-0")))])
        refused = stack.command(*copy)
        assert refused.returncode == 1
        assert "is no copy of the log" in refused.stderr
    finally:
        other.stop()


def test_copy_log_needs_another_namespace_and_the_key(stack: Stack) -> None:
    assert stack.command("copy-log", "--to-namespace", stack.settings.namespace).returncode == 2
    assert stack.command("copy-log", "--to-namespace", "a b").returncode == 2
    without = stack.command("copy-log", "--to-namespace", "x", JUDGESTREAM_JUDGE_KEY="")
    assert (without.returncode, "JUDGESTREAM_JUDGE_KEY" in without.stderr) == (2, True)
