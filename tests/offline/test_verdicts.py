"""A log in which judges changed verdicts is ranked without the earlier ones, by every model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streams import formats
from streams.cli.main import cli
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.options import CampaignOptions
from streams.errors import FormatError
from streams.offline.ranking import rank
from streams.offline.rating import RatedLog, rate
from streams.offline.versions import find_versions
from streams.wire.events import EPOCH, CampaignSettings, Judgment, encode
from tests.builders import crowd_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


def logs() -> tuple[list[Judgment], list[Judgment]]:
    """Return a log with changed verdicts, and the one that is left."""
    log = crowd_log(300, seed=2)
    changed = [
        msgspec.structs.replace(log[place], id=f"new-{place}", replaces=log[place].id, ranks=(2, 1))
        for place in range(0, 100, 9)
    ]
    gone = {each.replaces for each in changed}
    left = [msgspec.structs.replace(each, replaces=None) for each in (*log, *changed) if each.id not in gone]
    return [*log, *changed], left


@pytest.mark.parametrize("model", ["trueskill", "bradley-terry", "crowd-bt"])
def test_every_model_ranks_what_is_left(tmp_path: Path, model: str) -> None:
    log, left = logs()
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    expected = rank(left, model=model).reports[0].leaderboard
    for source in (log, file):
        found = rank(source, model=model).reports[0].leaderboard
        assert (found.rows, found.judgments) == (expected.rows, expected.judgments)


def test_judgments_that_can_be_read_only_once_are_refused_if_one_was_changed() -> None:
    with pytest.raises(FormatError, match="pass them as a list"):
        rank(iter(logs()[0]))


def tagged(log: list[Judgment]) -> list[Judgment]:
    """Return the log with languages, and with the length of both outputs. A new verdict may have another language."""
    return [
        msgspec.structs.replace(
            each, tags={"language": "en" if place % 3 else "de", "length": f"{10 + place % 7}|{12 + place % 5}"}
        )
        for place, each in enumerate(log)
    ]


def left_of(log: list[Judgment]) -> list[Judgment]:
    gone = {each.replaces for each in log}
    return [msgspec.structs.replace(each, replaces=None) for each in log if each.id not in gone]


@pytest.mark.parametrize("options", [{"by": "language"}, {"by": "language", "control": "length"}])
def test_boards_by_category_and_with_control_leave_earlier_versions_out(
    tmp_path: Path, options: dict[str, str]
) -> None:
    log = tagged(logs()[0])
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    expected = rank(left_of(log), **options)  # type: ignore[arg-type]
    for source in (log, file):
        found = rank(source, **options)  # type: ignore[arg-type]
        assert [part.leaderboard.rows for part in found.categories] == [
            part.leaderboard.rows for part in expected.categories
        ]
        if found.controlled and expected.controlled:
            assert len(found.controlled.categories) == 2
            for one, other in zip(found.controlled._all(), expected.controlled._all(), strict=True):
                assert one.effects
                assert other.effects
                assert (one.leaderboard.category, one.effects.features) == (
                    other.leaderboard.category,
                    other.effects.features,
                )


def test_judgments_without_features_are_counted_once_although_the_log_is_read_twice() -> None:
    log = tagged(logs()[0])
    log[200] = msgspec.structs.replace(log[200], tags=None)
    assert rank(log, control="length").left_out == 1


def test_scores_by_category_leave_earlier_versions_out() -> None:
    log = [
        msgspec.structs.replace(each, systems=each.systems[:1], ranks=None, score=float(place % 50))
        for place, each in enumerate(tagged(logs()[0]))
    ]
    found, expected = rank(log, by="language"), rank(left_of(log), by="language")
    assert found.category_leaderboards[log[0].campaign, "en"].judgments < len(log)
    assert [part.leaderboard.rows for part in found.categories] == [
        part.leaderboard.rows for part in expected.categories
    ]


def verdict(name: str, judge: str = "j", replaces: str | None = None) -> Judgment:
    return Judgment(
        id=name, campaign="c", segment="s", judge=judge, systems=("a", "b"), ranks=(1, 2), at=EPOCH, replaces=replaces
    )


def changes(drawn: list[tuple[str, str, str]]) -> list[Judgment]:
    """Return judgments of few ids and judges, most of which replace another one, in any order."""
    return [
        msgspec.structs.replace(verdict(name, judge, replaces if replaces != name else None), ranks=(1 + place % 3, 2))
        for place, (name, judge, replaces) in enumerate(drawn)
    ]


def rated_again(read: Callable[[], Iterable[Sequence[Judgment]]]) -> RatedLog:
    """Rate a log as `rank` does: again if verdicts were changed."""
    rated = rate(read(), CampaignSettings())
    while rated.changed:
        rated = rate(read(), CampaignSettings(), changed=rated.changed)
    return rated


VERSIONS = st.tuples(*map(st.sampled_from, ("012345", "jk", "012345")))


@given(st.lists(VERSIONS, max_size=8, unique_by=lambda drawn: drawn[0]))
def test_a_file_counts_and_rejects_what_a_worker_does_that_remembers_all_votes(
    drawn: list[tuple[str, str, str]],
) -> None:
    log = [*changes(drawn), verdict("last")]
    live = Campaign("c", options=CampaignOptions(remember_all=True))
    result = live.apply(range(len(log)), log)
    rated, versions = rated_again(lambda: [log]), find_versions(log)
    campaign = rated.campaigns["c"]
    assert campaign.counts.judgments == live.counts.judgments == len(versions.in_force)
    assert campaign.tables.wins.tolist() == live.tables.wins.tolist()
    assert rated.rejections == len(result.rejections) == len(versions.rejected)


def odd_log() -> list[Judgment]:
    """Return a log with a verdict after two of its versions, and two changes of a verdict of another judge."""
    log = crowd_log(600, seed=2)
    late, mine = log.pop(100), log[10]
    for place, change in ((60, late), (90, late), (300, mine), (400, mine)):
        other = "stranger" if change is mine else late.judge
        log.insert(place, replace(change, id=f"new-{place}", replaces=change.id, judge=other, ranks=(2, 1)))
    return [*log[:500], late, *log[500:]]


@pytest.mark.parametrize("columns", [False, True])
def test_rows_and_columns_leave_out_and_reject_the_same(tmp_path: Path, *, columns: bool) -> None:
    log = odd_log()
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    rated = rated_again(lambda: (batch.judgments for batch in formats.read(file).batches(columns=columns)))
    campaign, versions = rated.campaigns[log[0].campaign], find_versions(log)
    expected = rate([[replace(each, replaces=None) for each in versions.in_force]], CampaignSettings())
    board = expected.campaigns[log[0].campaign].leaderboard()
    assert campaign.leaderboard().rows == board.rows
    assert (campaign.counts.taken_back, rated.rejections, rated.read) == (2, 2, len(log))
    assert {each.id for each in versions.in_force} & {"new-60", "new-90", "new-300", "new-400"} == {"new-90"}
    assert rated.first_rejection is not None
    assert rated.first_rejection.reason == "other_judge"


@pytest.mark.parametrize("command", ["rank", "describe"])
def test_the_commands_say_how_many_changes_were_rejected(tmp_path: Path, command: str) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in odd_log()))
    said = CliRunner().invoke(cli, [command, str(file)])
    assert said.exit_code == 0, said.output
    assert "2 of 604 judgments were rejected; the first: " in said.stderr
    assert "is of another judge; a judge can change only their own verdicts" in said.stderr
    assert "2 of 604 judgments were replaced by a later one" in said.stderr


def test_a_verdict_that_comes_after_its_change_does_not_count() -> None:
    assert [each.id for each in find_versions([verdict("2", replaces="1"), verdict("1")]).in_force] == ["2"]


def test_a_chain_of_versions_leaves_the_last_one() -> None:
    chain = [verdict("1"), verdict("2", replaces="1"), verdict("3", replaces="2")]
    assert [each.id for each in find_versions(chain).in_force] == ["3"]


# -- changes outside of the part that is ranked ----------------------------------------------------------


def with_parts(drawn: list[tuple[str, str, str]]) -> list[Judgment]:
    """Return judgments of one judge, most of which replace another one. Some have a part, and some a length."""
    return [
        replace(
            verdict(name, "j", replaces if replaces != name else None),
            ranks=(1 + place % 3, 2),
            tags={"part": part} if part == "one" else {"length": "1|2"},
        )
        for place, (name, replaces, part) in enumerate(drawn)
    ]


PARTS = st.tuples(*map(st.sampled_from, ("012345", "012345", ("one", "two"))))


@given(st.lists(PARTS, min_size=1, max_size=8, unique_by=lambda drawn: drawn[0]))
def test_a_verdict_does_not_count_either_if_the_new_one_is_not_selected(drawn: list[tuple[str, str, str]]) -> None:
    log = [*with_parts(drawn), replace(verdict("a", "k"), tags={"part": "one"})]
    log.append(replace(verdict("b", "k"), tags={"length": "1|2"}))
    for options, tag in (({"only": {"tag.part": "one"}}, "part"), ({"control": "length"}, "length")):
        left = [replace(each, replaces=None) for each in find_versions(log).in_force if tag in (each.tags or {})]
        found = rank(log, **options)
        assert found.leaderboards[0].rows == rank(left).leaderboards[0].rows


def test_a_change_after_the_window_is_not_known_yet(tmp_path: Path) -> None:
    file, later = tmp_path / "log.jsonl", replace(verdict("2", replaces="1"), tags={"part": "two"})
    log = [replace(verdict(name), tags={"part": "one"}) for name in "01"]
    file.write_bytes(b"".join(encode(each) + b"\n" for each in (*log, later)))
    assert rank(file, only={"tag.part": "one"}).leaderboards[0].judgments == 1
    assert rank(file, only={"tag.part": "one"}, until=2).leaderboards[0].judgments == 2
    assert rank(file, since=2).leaderboards[0].judgments == 1
    assert rank([later, *log], since=1).leaderboards[0].judgments == 1


@pytest.mark.parametrize("command", ["describe", "rank", "diff", "agreement"])
def test_every_command_leaves_out_what_was_replaced_outside_of_the_selection(tmp_path: Path, command: str) -> None:
    file = tmp_path / "log.jsonl"
    log = [replace(each, tags={"part": "one"}) for each in crowd_log(40)]
    log.append(replace(log[3], id="new", replaces=log[3].id, tags={"part": "two"}))
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    files = [str(file)] * (1 + (command == "diff"))
    said = CliRunner().invoke(cli, [command, *files, "--only", "tag.part=one"])
    assert said.exit_code == 0, said.output
    assert "1 of 40 judgments were replaced by a later one" in said.stderr
