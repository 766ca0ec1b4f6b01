"""The walk of a batch: every record ends as applied, duplicate or rejected, and its neighbours do not notice."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from streams.errors import Conflict, Fenced
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.commit import Outcomes
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.decoding import decode, decode_all
from streams.wire.events import Judgment, Rejection, encode
from streams.wire.outputs import Output
from tests.builders import NOON, crowd_log, judgment, log_reader

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))
GOOD = encode(judgment(1))

# Every kind of bad record that a topic may hold, with the reason and the field of its Rejection.
POISON = {
    "broken UTF-8": (b"\xff\xfe" + GOOD, "invalid_utf8", None),
    "broken UTF-8 in an unknown field": (GOOD[:-1] + b',"note":"\xff"}', "invalid_utf8", None),
    "broken JSON": (GOOD[:-5], "invalid_json", None),
    "empty value": (b"", "empty", None),
    "no value": (None, "empty", None),
    "missing field": (GOOD.replace(b'"judge":"judge",', b""), "missing_field", "judge"),
    "rank of 0": (GOOD.replace(b"[1,2]", b"[0,2]"), "invalid_value", "ranks[0]"),
    "rank of -1": (GOOD.replace(b"[1,2]", b"[1,-1]"), "invalid_value", "ranks[1]"),
    "rank of 1.5": (GOOD.replace(b"[1,2]", b"[1,1.5]"), "invalid_value", "ranks[1]"),
    "rank beyond any integer": (GOOD.replace(b"[1,2]", b"[1," + b"9" * 400 + b"]"), "invalid_value", "ranks[1]"),
    "the same system twice": (GOOD.replace(b'["a","b"]', b'["a","a"]'), "duplicate_system", "systems"),
    "one system only": (encode(judgment(1, systems=("a",), ranks=(1,))), "too_few_systems", "systems"),
    "lengths differ": (GOOD.replace(b"[1,2]", b"[1,2,3]"), "length_mismatch", "ranks"),
    "NaN": (GOOD.replace(b'"ranks":[1,2]', b'"score":NaN'), "invalid_json", None),
    "1e400": (GOOD.replace(b'"ranks":[1,2]', b'"score":1e400'), "invalid_value", "score"),
    "1e400 as a rank": (GOOD.replace(b"[1,2]", b"[1,1e400]"), "invalid_value", "ranks[1]"),
    "2 MB": (GOOD[:-1] + b',"note":"' + b"x" * 2_000_000 + b'"}', "too_large", None),
    "deep nesting": (GOOD[:-1] + b',"note":' + b"[" * 50_000 + b"]" * 50_000 + b"}", "too_deep", None),
    "deep nesting and nothing else": (b"[" * 50_000, "too_deep", None),
    "a campaign of 10,000 characters": (encode(judgment(1, campaign="c" * 10_000)), "invalid_value", "campaign"),
    "a campaign that is no name": (encode(judgment(1, campaign="../../etc")), "invalid_value", "campaign"),
    "a campaign that ends in a newline": (encode(judgment(1, campaign="c\n")), "invalid_value", "campaign"),
    "a time that is too far": (GOOD.replace(b'"2019', b'"9999'), "invalid_value", "at"),
    "another version, told late": (b'{"systems":7,"version":"2"}', "unknown_version", "version"),
    "a bad judgment with an action": (GOOD.replace(b"[1,2]", b'[0,2],"action":"click"'), "invalid_value", "ranks[0]"),
    "a time without zone": (GOOD.replace(b'Z"', b'"'), "invalid_value", "at"),
    "another major version": (GOOD[:-1] + b',"version":"2.0"}', "unknown_version", "version"),
    "ranks and score": (GOOD[:-1] + b',"score":3}', "ranks_or_score", "score"),
    "neither ranks nor score": (GOOD.replace(b',"ranks":[1,2]', b""), "missing_field", "ranks"),
    "not an object": (b"[1,2]", "invalid_value", None),
    "an unknown action": (b'{"action":"destroy","id":"1"}', "invalid_value", "action"),
}


def records(*values: bytes | None, start: int = 0) -> list[Record]:
    return [Record(start + number, b"key", value) for number, value in enumerate(values)]


def opened(store: MemoryStore | None = None, partition: int = 0, options: ProcessorOptions = OPTIONS) -> Processor:
    processor, _ = Processor.open("judgments.v1", partition, store or MemoryStore(), options)
    return processor


def shown(value: bytes | None) -> bytes:
    """Return a bad record as its rejection holds it: without the id of the judge."""
    pseudonym = OPTIONS.campaign.pseudonyms["judge"] if OPTIONS.campaign.pseudonyms else ""
    try:
        fields = {} if value is None else msgspec.json.decode(value, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        fields = {}
        if b"judge" in (value or b""):
            return b'"%d bytes that are no JSON object and may hold the id of a judge"' % len(value or b"")
    if "judge" not in fields:
        return value or b""
    return encode(fields | {"judge": f"~{pseudonym}"})


def of_topic(outputs: tuple[Output, ...], topic: topics.Topic) -> list[bytes]:
    return [output.value for output in outputs if output.topic == topic.name]


def rejections(outputs: tuple[Output, ...]) -> list[Rejection]:
    return [msgspec.json.decode(value, type=Rejection) for value in of_topic(outputs, topics.REJECTED)]


@pytest.mark.parametrize("kind", POISON)
def test_a_bad_record_gets_one_rejection_and_its_neighbours_are_applied(kind: str) -> None:
    value, reason, field = POISON[kind]
    processor = opened()
    (rejection,) = rejections(processor.process(records(encode(judgment(7)), value, encode(judgment(8)))))
    assert (rejection.reason, rejection.field) == (reason, field)
    assert (rejection.topic, rejection.partition, rejection.offset) == ("judgments.v1", 0, 1)
    assert rejection.original == shown(value)
    assert rejection.message
    assert processor.counts() == Outcomes(read=3, applied=2, duplicate=0, rejected=1)
    assert processor.campaigns["c"].counts.judgments == 2


@pytest.mark.parametrize("kind", POISON)
def test_no_bad_record_is_decoded_with_its_neighbours_at_once(kind: str) -> None:
    assert decode_all([GOOD, POISON[kind][0]], max_bytes=OPTIONS.max_record_bytes) is None


def test_good_records_are_decoded_at_once_as_one_by_one() -> None:
    values = [encode(entry) for entry in crowd_log(50, ways=3)]
    values.append(encode(judgment(1, segment="ségment " * 20)))
    found = decode_all(values, max_bytes=OPTIONS.max_record_bytes)
    assert found == [decode(value, max_bytes=OPTIONS.max_record_bytes) for value in values]


def test_a_message_names_the_value_that_was_found() -> None:
    (rejection,) = rejections(opened().process(records(GOOD.replace(b"[1,2]", b"[0,2]"))))
    assert rejection.message == "`ranks[0]` is 0: Expected `int` >= 1"


@pytest.mark.parametrize(
    "value", [b"4711", b'"%s"' % (b"alice" * 100), b'{"mail":"alice"}', b'["alice",4711]', b"4711e999"]
)
def test_a_message_never_repeats_what_stands_for_a_judge(value: bytes) -> None:
    exclude = encode(events.ExcludeJudge(id="x", campaign="c", at=NOON, judge="judge"))
    for record in (GOOD, exclude):
        (rejection,) = rejections(opened().process(records(record.replace(b'"judge":"judge"', b'"judge":' + value))))
        assert (rejection.reason, rejection.field) == ("invalid_value", "judge")
        assert rejection.message.startswith("`judge`, whose value is private: ")
        assert "alice" not in rejection.message
        assert "4711" not in rejection.message


def test_a_message_does_not_repeat_a_long_value() -> None:
    (rejection,) = rejections(opened().process(records(encode(judgment(1, campaign="c" * 10_000)))))
    assert len(rejection.message) < 200


def test_many_brackets_are_not_deep_nesting() -> None:
    processor = opened()
    processor.process(records(GOOD[:-1] + b',"text":"' + b"[{" * 500 + b'","list":[' + b"[]," * 500 + b"[]]}"))
    assert processor.counts().applied == 1


def test_unknown_fields_and_minor_versions_are_let_through() -> None:
    processor = opened()
    processor.process(records(GOOD[:-1] + b',"version":"1.7","mood":{"deep":[1]}}'))
    assert processor.counts().applied == 1


def test_outputs_go_to_their_topics_under_their_keys() -> None:
    outputs = opened().process(records(GOOD))
    keys = {(output.topic, output.key) for output in outputs}
    assert keys == {
        ("ratings.v1", b"c/a"),
        ("ratings.v1", b"c/b"),
        ("match-requests.v1", b"c"),
        ("campaigns.v1", b"c"),
    }


def test_a_redelivered_batch_changes_nothing() -> None:
    processor = opened()
    batch = records(*(encode(entry) for entry in crowd_log(20)), b"bad")
    processor.process(batch)
    before = processor.counts(), processor.campaigns["campaign-0"].leaderboard()
    assert processor.process(batch) == ()
    assert (processor.counts(), processor.campaigns["campaign-0"].leaderboard()) == before


def test_a_batch_tells_what_became_of_its_records_and_why() -> None:
    processor = opened()
    good, again = encode(judgment(1)), encode(events.Close(id="close", campaign="c", at=NOON))
    commit = processor.prepare(records(good, b"bad", good, b"", again, again, encode(judgment(2))))
    assert commit.outcomes == Outcomes(read=7, applied=2, duplicate=2, rejected=3)
    assert commit.reasons == {"invalid_json": 1, "empty": 1, "campaign_closed": 1}


def test_the_batches_outcomes_add_up_to_what_the_campaigns_count() -> None:
    log = [encode(entry) for entry in crowd_log(80, campaigns=3)]
    log[20:20] = [log[3], b"bad", log[19]]
    log[60] = log[59]
    processor, outcomes = opened(), []
    for start in range(0, len(log), 7):
        commit = processor.prepare(records(*log[start : start + 7], start=start))
        processor.persist(commit)
        outcomes.append(commit.outcomes)
    assert Outcomes(*map(sum, zip(*outcomes, strict=True))) == processor.counts()
    assert processor.counts() == Outcomes(read=83, applied=79, duplicate=3, rejected=1)


def test_a_retraction_is_one_record_applied_whatever_it_makes_of_the_old_ones() -> None:
    log = [encode(entry) for entry in crowd_log(20)]
    retract = encode(events.Retract(id="r", campaign="campaign-0", at=NOON, judgments=("id-3", "id-25")))
    more = [encode(entry) for entry in crowd_log(30)[20:]]
    whole = records(*log, retract, *more)
    processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS, read_log=log_reader(whole))
    for start, end in ((0, 20), (20, 21), (21, 31)):
        commit = processor.prepare(whole[start:end])
        processor.persist(commit)
        held = 1 if start == 20 else 0
        assert commit.outcomes == Outcomes(read=end - start, applied=end - start - held, held=held)
        processor.rate_again()
    assert processor.counts() == Outcomes(read=31, applied=31, duplicate=0, rejected=0)
    assert processor.campaigns["campaign-0"].counts.retracted == 2


def test_what_a_campaign_has_already_is_a_duplicate_of_the_batch_that_brings_it_again() -> None:
    processor = opened()
    log = records(*(encode(entry) for entry in crowd_log(5)))
    processor.process(log)
    processor.next_offset = 3  # as if the campaign had been written, and the partition not
    assert processor.prepare(log).outcomes == Outcomes(read=2, applied=0, duplicate=2, rejected=0)


def test_a_new_owner_goes_on_where_the_store_stands() -> None:
    store = MemoryStore()
    log = [encode(entry) for entry in crowd_log(60, campaigns=3)]
    log[10] = b"bad"
    first = opened(store)
    first.process(records(*log[:35]))
    second = opened(store)
    assert second.next_offset == 35
    second.process(records(*log[35:], start=35))
    through = opened()
    through.process(records(*log))
    assert second.counts() == through.counts() == Outcomes(read=60, applied=59, duplicate=0, rejected=1)
    for name, campaign in through.campaigns.items():
        assert second.campaigns[name].leaderboard() == campaign.leaderboard()


def test_a_former_owner_is_fenced_off() -> None:
    store = MemoryStore()
    former = opened(store)
    former.process(records(GOOD))
    opened(store)
    with pytest.raises(Fenced):
        former.process(records(encode(judgment(2)), start=1))


def test_a_new_owner_emits_again_what_the_last_batch_brought() -> None:
    store = MemoryStore()
    outputs = opened(store).process(records(GOOD, b"bad"))
    _, again = Processor.open("judgments.v1", 0, store, OPTIONS)
    assert sorted(again) == sorted(outputs)


def test_a_batch_prepared_while_the_store_was_away_is_persisted_when_it_is_back() -> None:
    store = MemoryStore()
    processor = opened(store)
    commit = processor.prepare(records(GOOD))
    processor.persist(commit)
    processor.persist(commit)  # the reply was lost, and the caller insists
    assert opened(store).counts() == Outcomes(read=1, applied=1, duplicate=0, rejected=0)


def test_two_partitions_that_open_one_campaign_at_once_conflict() -> None:
    store = MemoryStore()
    one, other = opened(store, 0), opened(store, 1)
    commits = one.prepare(records(GOOD)), other.prepare(records(GOOD))
    one.persist(commits[0])
    with pytest.raises(Conflict):
        other.persist(commits[1])


class TestUnknownCampaigns:
    options = ProcessorOptions.from_settings(Settings(judge_key="key", unknown_campaign="reject"))
    create = encode(events.Create(id="1", campaign="c", at=NOON))

    def test_by_default_the_first_judgment_opens_one_and_says_so(self) -> None:
        outputs = opened().process(records(GOOD))
        (announced,) = [output for output in outputs if output.topic == topics.CAMPAIGNS.name]
        assert msgspec.json.decode(announced.value, type=events.CampaignStatus).state == "open"

    def test_by_setting_its_judgments_are_rejected_and_leave_no_trace(self) -> None:
        store = MemoryStore()
        processor = opened(store, options=self.options)
        (rejection,) = rejections(processor.process(records(GOOD)))
        assert rejection.reason == "unknown_campaign"
        assert opened(store).campaigns == processor.campaigns == {}
        assert processor.counts() == Outcomes(read=1, applied=0, duplicate=0, rejected=1)

    @pytest.mark.parametrize("size", [1, 2, 3, 5])
    def test_a_create_in_the_log_opens_it_from_there_on_whatever_the_batches(self, size: int) -> None:
        values = [GOOD, GOOD, self.create, encode(judgment(2)), encode(judgment(3))]
        processor = opened(options=self.options)
        for start in range(0, len(values), size):
            processor.process(records(*values[start : start + size], start=start))
        assert processor.counts() == Outcomes(read=5, applied=3, duplicate=0, rejected=2)
        assert processor.campaigns["c"].counts.rejected == 0


def test_every_obeyed_command_is_announced_under_its_id() -> None:
    processor = opened()
    log = [
        events.Create(id="one", campaign="c", at=NOON),
        events.Pause(id="two", campaign="c", at=NOON),
        events.Pause(id="two", campaign="c", at=NOON),
        events.Resume(id="three", campaign="c", at=NOON),
    ]
    outputs = processor.process(records(*map(encode, log)))
    announced = [
        msgspec.json.decode(value, type=events.CampaignStatus) for value in of_topic(outputs, topics.CAMPAIGNS)
    ]
    assert [(each.command, each.state, each.offset) for each in announced] == [
        ("one", "open", 0),
        ("two", "paused", 1),
        ("three", "open", 3),
    ]


def test_a_rejection_says_in_its_headers_what_kafka_connect_would() -> None:
    processor = opened(partition=3)
    late = events.Close(id="1", campaign="c", at=NOON)
    outputs = processor.process(records(GOOD, b"{", encode(late), encode(judgment(2))))
    rejections = [output for output in outputs if output.topic == topics.REJECTED.name]
    headers = [dict(output.headers) for output in rejections]
    assert [each["__connect.errors.offset"] for each in headers] == [b"1", b"3"]
    assert {each["__connect.errors.partition"] for each in headers} == {b"3"}
    assert {each["__connect.errors.topic"] for each in headers} == {b"judgments.v1"}
    assert headers[1]["__connect.errors.exception.message"] == b"campaign_closed: the campaign 'c' is closed"
    assert headers[1]["__connect.errors.exception.class.name"] == b"streams.errors.RecordError"


class TestSnapshots:
    def test_one_comes_when_the_campaign_closes(self) -> None:
        processor = opened()
        outputs = processor.process(records(GOOD, encode(events.Close(id="1", campaign="c", at=NOON))))
        (board,) = of_topic(outputs, topics.LEADERBOARDS)
        assert msgspec.json.decode(board, type=events.Leaderboard).judgments == 1
        assert processor.snapshots() == ()

    def test_one_comes_after_so_many_judgments(self) -> None:
        processor = opened(options=ProcessorOptions.from_settings(Settings(snapshot_judgments=10)))
        found = []
        for start in range(0, 40, 4):
            batch = records(*(encode(judgment(start + k)) for k in range(4)), start=start)
            boards = of_topic(processor.process(batch), topics.LEADERBOARDS)
            found += [msgspec.json.decode(board, type=events.Leaderboard).judgments for board in boards]
        assert found == [12, 20, 32, 40]

    def test_one_comes_for_each_campaign_that_changed(self) -> None:
        processor = opened()
        processor.process(records(*(encode(entry) for entry in crowd_log(4, campaigns=2))))
        assert [output.key for output in processor.snapshots()] == [b"campaign-0", b"campaign-1"]
        assert processor.snapshots() == ()
        processor.process(records(encode(judgment(99, campaign="campaign-1")), start=4))
        (board,) = processor.snapshots()
        decoded = msgspec.json.decode(board.value, type=events.Leaderboard)
        assert (decoded.campaign, decoded.offset, decoded.judgments, decoded.sequence) == ("campaign-1", 4, 3, 3)

    def test_a_new_owner_gives_them_again(self) -> None:
        store = MemoryStore()
        first = opened(store)
        first.process(records(GOOD))
        assert opened(store).snapshots() == first.snapshots()


def test_judges_ids_are_in_no_output_and_in_no_store() -> None:
    store = MemoryStore()
    processor = opened(store)
    secret = Judgment(
        id="1", campaign="c", segment="s", judge="alice@example.org", systems=("a", "b"), ranks=(1, 2), at=NOON
    )
    commit = processor.prepare(records(encode(secret)))
    assert b"alice" not in b"".join(output.value for output in commit.outputs)
    (change,) = commit.campaigns
    assert "alice" not in repr(change)


def test_what_came_before_a_campaign_is_counted_again_if_only_the_campaign_was_written() -> None:
    """On a cluster a campaign is written before its partition, and a worker may die in between."""
    log = [
        judgment(1),
        events.Create(id="create", campaign="c", at=NOON),
        judgment(2),
    ]
    options = ProcessorOptions.from_settings(Settings(judge_key="key", unknown_campaign="reject"))
    store = MemoryStore()
    first = opened(store, options=options)
    commit = first.prepare(records(*map(encode, log)))
    written = dataclasses.replace(commit, after=0, outbox=(), read=0, rejected=0, last_record_fingerprint="")
    store._partitions["judgments.v1/0"].next_offset = -1  # so that the store takes it for another batch
    first.persist(dataclasses.replace(written, before=-1))
    second = opened(store, options=options)
    assert second.next_offset == 0
    outputs = second.process(records(*map(encode, log)))
    assert second.counts() == Outcomes(read=3, applied=2, duplicate=0, rejected=1)
    assert outputs == (), "they stood in the campaign's outbox"
