"""Changed and revoked verdicts: what counts afterwards, at once or when the campaign is rated again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streams.core.campaign import changing
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.recent_votes import Vote
from streams.errors import RecordError
from streams.wire.events import CampaignSettings, ForgetJudge, Judgment, Retract, RevokeVerdicts
from tests.builders import NOON, crowd_log, judgment, stored_campaign, unzip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Command, Leaderboard

SYSTEMS = ("a", "b", "c", "d")


def changed(number: int, replaces: int, **more: object) -> Judgment:
    """Return a judgment that replaces another."""
    return msgspec.structs.replace(judgment(number), replaces=f"id-{replaces}", **more)


def revoked(*numbers: int, judge: str | None = "judge", command: str = "revoke") -> RevokeVerdicts:
    return RevokeVerdicts(
        id=command, campaign="c", at=NOON, judgments=tuple(f"id-{number}" for number in numbers), judge=judge
    )


def warm(*, judge: str = "other") -> list[Judgment | Command]:
    """Return judgments after which a campaign remembers its verdicts."""
    first = [judgment(900 + n, judge=judge, systems=SYSTEMS[n : n + 2]) for n in range(3)]
    return [*first, changed(950, 999, judge=judge, systems=("a", "d")), judgment(999, judge=judge)]


def rated(log: Sequence[Judgment | Command], *, split: int | None = None, **settings: Any) -> Campaign:
    """Rate a log, at once or in batches with a restart after each."""
    campaign, changes = Campaign("c", CampaignSettings(**settings)), []
    for start in range(0, len(log), split or len(log) or 1):
        batch = list(enumerate(log))[start : start + (split or len(log))]
        changes.append(campaign.drain_changes(campaign.apply(*unzip(batch)), ()))
        if split is not None:
            campaign = Campaign.restore("c", stored_campaign(changes))
    return campaign


def rated_again(log: Sequence[Judgment | Command], **settings: Any) -> Campaign:
    """Rate a log, then once more without what waits, as a rerun does."""
    first = rated(log, **settings)
    again = Campaign("c", CampaignSettings(**settings))
    command = Retract(id="again", campaign="c", at=NOON, taken_back=first.verdicts.waiting)
    again.retractions = first.retractions.extended(command, len(log))
    again.apply(*unzip(list(enumerate(log))))
    return again


def board(campaign: Campaign) -> Leaderboard:
    """Return the leaderboard without what counts records, or depends on the votes before."""
    found = campaign.leaderboard()
    return msgspec.structs.replace(found, sequence=0, offset=0, left_out={}, cautions=())


def wins(campaign: Campaign) -> dict[tuple[str, str], int]:
    names, counts, ties = campaign.tables.systems.names, campaign.tables.wins, campaign.tables.ties
    totals = [counts.sum(axis=1), ties.sum(axis=1), counts.sum(axis=0)]
    assert campaign.tables.outcomes.T.tolist() == [each.tolist() for each in totals], "of each system"
    return {(x, y): int(counts[i, j]) for i, x in enumerate(names) for j, y in enumerate(names) if counts[i, j]}


def only_rejection(log: Sequence[Judgment | Command], **settings: Any) -> RecordError:
    campaign = Campaign("c", CampaignSettings(**settings))
    found = campaign.apply(*unzip(list(enumerate(log)))).rejections
    assert list(found) == [len(log) - 1]
    return found[len(log) - 1]


# -- at once ---------------------------------------------------------------------------------------------


def test_a_changed_verdict_counts_in_place_of_the_earlier_one() -> None:
    campaign = rated([*warm(), judgment(1, ranks=(1, 2)), changed(2, 1, ranks=(2, 1))])
    assert wins(campaign) == {("a", "b"): 1, ("b", "c"): 1, ("c", "d"): 1, ("a", "d"): 1, ("b", "a"): 1}
    assert (campaign.counts.judgments, campaign.counts.taken_back, campaign.counts.records) == (5, 2, 7)
    assert campaign.leaderboard().judgments == 5
    assert not campaign.verdicts.waiting
    assert campaign.leaderboard().pending is None


def test_a_revoked_verdict_does_not_count() -> None:
    campaign = rated([*warm(), judgment(1), revoked(1)])
    assert board(campaign) == board(rated(warm()))
    assert campaign.counts.taken_back == 2
    assert not campaign.verdicts.waiting


def test_without_a_judge_any_verdict_is_revoked_with_its_versions() -> None:
    campaign = rated([*warm(), judgment(1), changed(2, 1, ranks=(2, 1)), revoked(1, judge=None)])
    assert board(campaign) == board(rated(warm()))


@pytest.mark.parametrize("names", [(1, 2), (1, 1)])
def test_of_a_chain_only_the_last_counts_whether_it_names_the_first_or_the_one_before(names: tuple[int, int]) -> None:
    tail = [changed(2, names[0], ranks=(2, 1)), changed(3, names[1], ranks=(1, 1))]
    campaign = rated([*warm(), judgment(1), *tail])
    assert board(campaign) == board(rated([*warm(), msgspec.structs.replace(tail[-1], replaces=None)]))
    assert campaign.counts.taken_back == 3
    assert not campaign.verdicts.waiting


def test_a_verdict_that_is_taken_back_has_no_part_in_the_weights_of_judges() -> None:
    first, others = warm(), crowd_log(40)
    only_pair = judgment(801, systems=("a", "c"), judge="quick")
    new = changed(802, 801, systems=("b", "d"), judge="quick")
    revoke = revoked(801, judge="quick")
    for log, expected in (
        ([*first, *others, only_pair, revoke], [*first, *others]),
        ([*first, only_pair, revoke, *others], [*first, *others]),  # now a judge without judgments is not the last one
        ([*first, *others, only_pair, new], [*first, *others, msgspec.structs.replace(new, replaces=None)]),
    ):
        campaign = rated(log, model="trueskill-judges")
        assert board(campaign) == board(rated(expected, model="trueskill-judges"))
        assert board(rated(log, split=7, model="trueskill-judges")) == board(campaign)


def test_a_repeated_change_is_a_duplicate() -> None:
    log = [*warm(), judgment(1), changed(2, 1, ranks=(2, 1))]
    campaign = rated([*log, log[-1]])
    assert board(campaign) == board(rated(log))
    assert campaign.counts.duplicates == 1


def test_a_verdict_that_was_changed_and_then_revoked_is_gone_and_a_new_version_counts() -> None:
    campaign = rated([*warm(), judgment(1), changed(2, 1), revoked(2), changed(3, 1, ranks=(2, 1))])
    assert board(campaign) == board(rated([*warm(), judgment(3, ranks=(2, 1))]))


def test_a_system_that_only_a_changed_verdict_named_leaves_the_board() -> None:
    campaign = rated([*warm(), judgment(1, systems=("a", "typo")), changed(2, 1)])
    assert {row.system for row in campaign.leaderboard().rows} == set(SYSTEMS)


# -- who may change what ---------------------------------------------------------------------------------


def test_the_verdict_of_another_judge_can_not_be_changed() -> None:
    error = only_rejection([*warm(), judgment(1, judge="one"), changed(2, 1, judge="two")])
    assert (error.reason, error.field) == ("other_judge", "replaces")
    assert (only_rejection([*warm(), judgment(1, judge="one"), revoked(1, judge="two")])).reason == "other_judge"


def test_a_forgotten_verdict_of_another_judge_stays_when_the_campaign_is_rated_again() -> None:
    log = [judgment(1, judge="one"), judgment(2, judge="two"), changed(3, 1, judge="two", ranks=(2, 1))]
    campaign = rated_again(log)
    assert wins(campaign) == {("a", "b"): 2, ("b", "a"): 1}
    assert campaign.counts.taken_back == 0
    assert not campaign.verdicts.waiting


def test_a_rerun_rejects_no_judgment_that_was_accepted_when_it_came() -> None:
    log = [judgment(1, judge="one"), changed(2, 1, judge="two")]
    campaign = Campaign("c")
    command = Retract(id="r", campaign="c", at=NOON, taken_back={"three": {"id-9": 7}})
    campaign.retractions = campaign.retractions.extended(command, 8)
    assert campaign.apply(*unzip(list(enumerate(log)))).rejections == {}


def test_a_change_that_is_rejected_takes_nothing_back() -> None:
    log = [*warm(), judgment(1), changed(2, 1, systems=("a", "unknown"))]
    assert only_rejection(log, systems=SYSTEMS).reason == "unknown_system"
    assert board(rated(log, systems=SYSTEMS)) == board(rated(log[:-1], systems=SYSTEMS))


# -- verdicts that are not remembered --------------------------------------------------------------------


def test_the_first_change_of_a_campaign_waits_and_then_counts() -> None:
    log = [judgment(1), judgment(2, judge="j"), changed(3, 1, ranks=(2, 1))]
    campaign = rated(log)
    assert campaign.verdicts.waiting == {"judge": {"id-1": 2}}
    assert campaign.leaderboard().pending == (
        "1 verdict that was changed or revoked may still count, until the campaign is rated again without them"
    )
    again = rated_again(log)
    assert wins(again) == {("a", "b"): 1, ("b", "a"): 1}
    assert (again.counts.judgments, again.counts.taken_back) == (2, 1)
    assert not again.verdicts.waiting


def test_a_verdict_that_comes_after_its_change_does_not_count_and_needs_no_rerun() -> None:
    campaign = rated([*warm(), changed(2, 1, ranks=(2, 1)), judgment(1)])
    assert board(campaign) == board(rated([*warm(), judgment(2, ranks=(2, 1))]))
    assert not campaign.verdicts.waiting
    assert campaign.counts.taken_back == 2


def test_a_rerun_leaves_out_all_versions_before_the_change() -> None:
    log = [judgment(1), changed(2, 1), changed(3, 1, ranks=(1, 1)), *warm(), changed(4, 1, ranks=(2, 1))]
    again = rated_again(log, repeat_window=3)
    assert board(again) == board(rated([*warm(), judgment(4, ranks=(2, 1))]))
    assert not again.verdicts.waiting


def test_a_verdict_that_comes_after_two_changes_leaves_the_last_one_if_none_is_remembered() -> None:
    log = [judgment(9, judge="other"), changed(2, 1), changed(3, 1, ranks=(2, 1)), judgment(1)]
    again = rated_again(log, model="grm")
    assert (again.counts.judgments, again.counts.taken_back) == (2, 2)
    assert not again.verdicts.waiting


def test_too_many_verdicts_that_wait_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changing, "MOST_FORGOTTEN", 2)
    error = only_rejection([judgment(9), changed(1, 101), changed(2, 102), changed(3, 103)])
    assert (error.reason, error.field) == ("too_many_changes", "replaces")
    assert "send it again later" in error.message


def test_a_model_without_counts_waits_for_a_rerun() -> None:
    settings: dict[str, Any] = {"model": "grm", "baseline": "a", "systems": ("a", "b")}
    log = [judgment(1), changed(8, 7), judgment(2), changed(3, 2, ranks=(2, 1))]
    assert rated(log, **settings).verdicts.waiting == {"judge": {"id-7": 1, "id-2": 3}}
    again, expected = rated_again(log, **settings), rated([log[0], judgment(8), judgment(3, ranks=(2, 1))], **settings)
    assert board(again).rows == board(expected).rows


# -- with other commands and defences --------------------------------------------------------------------


def test_the_votes_of_a_forgotten_judge_are_not_remembered() -> None:
    forget = ForgetJudge(id="forget", campaign="c", at=NOON, judge="judge")
    campaign = rated([*warm(), judgment(1), changed(5, 77), forget])
    assert "judge" not in campaign.verdicts.waiting
    votes = [place.vote for place in campaign._votes._places.values() if place.vote is not None]
    assert {vote.judge for vote in votes} == {0}
    assert all(isinstance(vote, Vote) for vote in votes)


def test_what_was_left_out_of_a_forgotten_judge_is_not_remembered() -> None:
    forget = ForgetJudge(id="forget", campaign="c", at=NOON, judge="judge")
    log = [*warm(), revoked(1), judgment(1), forget]  # no judgment of the judge counts
    votes = [place.vote for place in rated(log)._votes._places.values() if place.vote is not None]
    assert {vote.judge for vote in votes} == {0}


@pytest.mark.parametrize("repeats", ["first", "last"])
def test_a_changed_verdict_is_no_repeated_vote(repeats: str) -> None:
    log = [*warm(), judgment(1), changed(2, 1, ranks=(2, 1))]
    campaign = rated(log, repeat_votes=repeats)
    assert (wins(campaign).get(("b", "a")), campaign.counts.repeated) == (1, 0)
    again = rated([*log, judgment(3, ranks=(1, 1))], repeat_votes=repeats)
    assert again.counts.repeated == 1
    assert wins(again).get(("b", "a")) == (1 if repeats == "first" else None)


def test_a_vote_that_a_repeat_has_taken_back_is_not_taken_back_again() -> None:
    log = [*warm(), judgment(1), judgment(2, ranks=(2, 1)), changed(3, 1, segment="another")]
    campaign = rated(log, repeat_votes="last")
    assert (wins(campaign)["b", "a"], campaign.counts.repeated, campaign.counts.taken_back) == (1, 1, 1)


def test_a_change_does_not_add_to_the_share_of_a_judge() -> None:
    log = [*warm(), *(judgment(n) for n in range(1, 31)), changed(40, 20, ranks=(2, 1)), changed(41, 30)]
    campaign = rated(log, judge_share=0.1)
    assert wins(campaign)["b", "a"] == 1
    assert campaign.counts.over_share == 11


def test_a_retracted_change_still_takes_the_earlier_verdict_back() -> None:
    log = [*warm(), judgment(1), changed(2, 1)]
    campaign = Campaign("c")
    campaign.retractions = campaign.retractions.extended(
        Retract(id="r", campaign="c", at=NOON, judgments=("id-2",)), len(log)
    )
    campaign.apply(*unzip(list(enumerate(log))))
    assert board(campaign) == board(rated(warm()))


# -- any log ---------------------------------------------------------------------------------------------

CHANGES = st.lists(
    st.tuples(st.integers(0, 29), st.integers(1, 39), st.booleans(), st.permutations([1, 2])), max_size=12
)


def with_changes(drawn: list[tuple[int, int, bool, list[int]]]) -> list[Judgment | Command]:
    """Return a log in which judges change and revoke their own verdicts, also before these come."""
    log: list[Judgment | Command] = list(crowd_log(30, seed=3))
    of = {each.id: each for each in log if isinstance(each, Judgment)}
    for number, (target, place, revokes, ranks) in enumerate(drawn):
        named = of[f"id-{target}"]
        if revokes:
            event: Judgment | Command = RevokeVerdicts(
                id=f"r-{number}", campaign="campaign-0", at=NOON, judge=named.judge, judgments=(named.id,)
            )
        else:
            event = msgspec.structs.replace(named, id=f"new-{number}", ranks=tuple(ranks), replaces=named.id)
        log.insert(min(place, len(log)), event)
    return log


def left(log: Sequence[Judgment | Command]) -> list[Judgment]:
    """Return the judgments that count, by the definition in docs/verdicts.md."""
    found: list[Judgment] = []
    for place, event in enumerate(log):
        if not isinstance(event, Judgment):
            continue
        later = log[place + 1 :]
        names = {event.id, event.replaces} - {None}
        revokes = any(isinstance(each, RevokeVerdicts) and names & {*each.judgments} for each in later)
        replaces = any(isinstance(each, Judgment) and each.replaces in names for each in later)
        early = any(
            each.replaces == event.id if isinstance(each, Judgment) else event.id in getattr(each, "judgments", ())
            for each in log[:place]
        )
        if not (revokes or replaces or early):
            found.append(event)
    return found


@example([(1, 1, True, [1, 2]), (1, 3, False, [1, 2]), (1, 3, False, [1, 2])], "trueskill")  # a judge with no judgment
@example([(0, 1, True, [1, 2]), (5, 20, True, [1, 2])], "trueskill-judges")
@given(CHANGES, st.sampled_from(["trueskill", "trueskill-judges"]))
def test_the_board_is_that_of_a_log_without_the_earlier_verdicts(
    drawn: list[tuple[int, int, bool, list[int]]], model: str
) -> None:
    log = with_changes(drawn)
    campaign = rated_again(log, model=model)
    expected = rated([msgspec.structs.replace(each, replaces=None) for each in left(log)], model=model)
    if expected.exists:
        assert board(campaign) == board(expected)
    assert not campaign.verdicts.waiting


@given(CHANGES, st.integers(1, 20), st.sampled_from([5, 20_000]))
def test_batches_and_restarts_do_not_matter(
    drawn: list[tuple[int, int, bool, list[int]]], split: int, window: int
) -> None:
    log = with_changes(drawn)
    whole, parts = rated(log, repeat_window=window), rated(log, split=split, repeat_window=window)
    assert (whole.counts, whole.verdicts) == (parts.counts, parts.verdicts)
    assert whole._votes._places == parts._votes._places
    assert whole.leaderboard() == parts.leaderboard()
    assert whole.ratings() == parts.ratings()
