"""The votes of a campaign's log that count for the tests of judges, and the report on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchmarks.judge_attacks import simulate
from streams.core.campaign.pseudonyms import Pseudonyms, forgotten_name
from streams.core.judges import Votes, examine_judges
from streams.pipeline.judge_check import CampaignVotes, check_judges
from streams.pipeline.record import Record
from streams.wire import events
from streams.wire.campaign_settings import CampaignSettings, GoldItem
from streams.wire.events import encode
from tests.builders import NOON, crowd_log
from tests.core.judges.logs import log_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    Event = events.Judgment | events.Command

NAMES = Pseudonyms(b"key")
LOG = [replace(each, campaign="c", judge=f"judge-{k % 4}") for k, each in enumerate(crowd_log(80, seed=3))]
FIELDS: dict[str, Any] = {"id": "command", "campaign": "c", "at": NOON}


def votes_of(log: Sequence[Event], retracted: Sequence[str] = ()) -> Votes:
    votes = CampaignVotes("c", NAMES, retracted)
    for event in log:
        votes.apply(event)
    return votes.counter.votes()


def expected(log: Sequence[events.Judgment], **names: str) -> Votes:
    judges = {f"judge_{k}": NAMES[f"judge-{k}"] for k in range(4)} | names
    return Votes.of(replace(each, judge=judges[each.judge.replace("-", "_")]) for each in log)


def same(one: Votes, other: Votes) -> bool:
    return all(
        list(getattr(one, name)) == list(getattr(other, name))
        for name in ("systems", "judges", "judgments", "judge", "first", "second", "outcome", "count", "timed")
    )


def test_a_repeated_id_counts_once() -> None:
    assert same(votes_of([*LOG, *LOG[:10]]), expected(LOG))


def test_a_retracted_judgment_and_the_judgments_of_a_retracted_judge_do_not_count() -> None:
    assert same(votes_of(LOG, [LOG[5].id]), expected([*LOG[:5], *LOG[6:]]))
    retract = events.Retract(**FIELDS, judge="judge-1")
    kept = [each for each in LOG[:40] if each.judge != "judge-1"]
    assert same(votes_of([*LOG[:40], retract, *LOG[40:]]), expected([*kept, *LOG[40:]]))


def test_an_excluded_judge_does_not_count_until_they_are_included() -> None:
    exclude, include = events.ExcludeJudge(**FIELDS, judge="judge-1"), events.IncludeJudge(**FIELDS, judge="judge-1")
    kept = [each for each in LOG[20:60] if each.judge != "judge-1"]
    found = votes_of([*LOG[:20], exclude, *LOG[20:60], include, *LOG[60:]])
    assert same(found, expected([*LOG[:20], *kept, *LOG[60:]]))


def test_a_forgotten_judge_has_the_name_that_says_nothing() -> None:
    forget = events.ForgetJudge(**FIELDS, judge="judge-1")
    name = forgotten_name("c", "command", NAMES["judge-1"])
    assert same(votes_of([*LOG, forget]), expected(LOG, judge_1=name))


def test_gold_items_do_not_count_and_a_deleted_campaign_begins_again() -> None:
    item = GoldItem(segment=LOG[3].segment, systems=tuple(reversed(LOG[3].systems)), ranks=(1, 2))
    create = events.Create(**FIELDS, settings=CampaignSettings(gold=(item,)))
    rest = [each for each in LOG if (each.segment, set(each.systems)) != (item.segment, set(item.systems))]
    assert len(rest) < len(LOG)
    assert same(votes_of([create, *LOG]), expected(rest))
    assert same(votes_of([*LOG[:30], events.Delete(**FIELDS), *LOG[30:]]), expected(LOG[30:]))


def test_the_check_reads_the_records_of_its_campaign_and_skips_others() -> None:
    attack = simulate("chosen", 0.2, 11, systems=8, judges=40, judgments=2400)
    log = log_of(attack.votes)
    other = [replace(each, campaign="other", systems=each.systems[::-1]) for each in log[:500]]
    records = [Record(k, each.campaign.encode(), encode(each)) for k, each in enumerate([*other, *log])]
    records.insert(7, Record(9999, b"c", b"not an event"))
    report = check_judges([records[:900], records[900:]], "c", pseudonyms=None, retracted=(), max_bytes=10_000)
    assert report == examine_judges(attack.votes)
    assert {judge.judge for judge in report.flagged} == {f"j{k:03}" for k in attack.bad.nonzero()[0]}
