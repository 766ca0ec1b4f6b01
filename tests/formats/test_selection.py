"""A part of a log: which judgments and systems are selected, and errors for values that do not occur."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import streams
from streams import formats
from streams.errors import ParameterError
from streams.formats.selection import LogSelection
from streams.wire.events import Judgment, encode
from streams.wire.scanner import JudgmentColumns
from tests.builders import crowd_log


def log_of(count: int = 200) -> list[Judgment]:
    """Draw judgments, the even judges of which are researchers, and the last ones have no source."""
    log = crowd_log(count, ways=4)
    sources = ("researcher", "turker")
    return [
        replace(each, source=None if number >= count - 20 else sources[int(each.judge[-1]) % 2])
        for number, each in enumerate(log)
    ]


LOG = log_of()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(encode(each) + b"\n" for each in LOG))
    return path


@pytest.mark.parametrize("name", ["source", "judge_type"])
def test_judge_type_is_another_name_for_source(file: Path, name: str) -> None:
    expected = [each for each in LOG if each.source == "researcher"]
    reading = formats.read(file, only={name: "researcher"})
    assert [entry.judgment for entry in reading] == expected
    assert reading.selection is not None
    assert (reading.selection.kept, reading.selection.read) == (len(expected), len(LOG))
    assert reading.summary.judgments == len(LOG)


def test_values_of_one_name_are_alternatives_and_names_must_all_match(file: Path) -> None:
    only = {"judge": ["judge-0", "judge-1"], "segment": ["segment-1", "segment-2", "segment-3", "segment-4"]}
    expected = [each for each in LOG if each.judge in only["judge"] and each.segment in only["segment"]]
    assert 0 < len(expected) < 20
    assert list(streams.read(file, only=only)) == expected
    assert [entry.line - 1 for entry in formats.read(file, only=only)] == [LOG.index(each) for each in expected]


def test_source_and_judge_type_together_are_alternatives(file: Path) -> None:
    found = streams.read(file, only={"source": "researcher", "judge_type": "turker"})
    assert len(found) == sum(each.source is not None for each in LOG)


def test_a_ranking_keeps_only_the_chosen_systems() -> None:
    chosen = ("system-1", "system-4", "system-6")
    selection = LogSelection({"system": chosen})
    (found,) = selection.batches([LOG])
    by_id = {each.id: each for each in found}
    for each in LOG:
        left = [(system, rank) for system, rank in zip(each.systems, each.ranks or (), strict=True) if system in chosen]
        part = by_id.get(each.id)
        assert (part is not None) == (len(left) >= 2)
        if part is not None:
            assert list(zip(part.systems, part.ranks or (), strict=True)) == left
    assert {name for each in found for name in each.systems} == set(chosen)


def test_a_score_is_kept_if_its_system_is_chosen() -> None:
    score = replace(LOG[0], systems=("a",), ranks=None, score=1.0)
    assert LogSelection({"system": ["a", "b"]}).select(score) == score
    assert LogSelection({"system": "b"}).select(score) is None


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ({"jugde": "judge-1"}, "no field 'jugde'; did you mean 'judge'?"),
        ({"campaign": "campaign-0"}, "with --campaign"),
        ({"judge": []}, "judge has no value"),
        ({"source": "researchers"}, "no judgment has this source: 'researchers'; did you mean 'researcher'?"),
        (
            {"judge": ["judge-1", "x", "y"]},
            "2 of 3 judges have no judgment; the first is number 2",
        ),
        ({"segment": "?"}, r"known: segment-0, .* and \d+ more"),
        (
            {"system": "system-1"},
            "is left by system; choose more systems, because a ranking needs two",
        ),
        ({"judge": "judge-1", "source": "researcher"}, "none of 200 judgments is left by judge and source together"),
    ],
)
def test_a_selection_of_nothing_is_an_error(file: Path, only: dict[str, str | list[str]], said: str) -> None:
    with pytest.raises(ParameterError, match=said.replace("?", r"\?") if "?" in said else said):
        streams.read(file, only=only)


def test_a_log_without_sources_says_so() -> None:
    with pytest.raises(ParameterError, match="'x'; no judgment has a source"):
        list(LogSelection({"source": "x"}).batches([crowd_log(5)]))


def test_columns_are_read_only_without_a_selection(file: Path) -> None:
    def kinds(**options: dict[str, str]) -> set[bool]:
        reading = formats.read(file, **options)  # type: ignore[arg-type]
        return {isinstance(batch.judgments, JudgmentColumns) for batch in reading.batches(columns=True)}

    assert kinds() == {True}
    assert kinds(only={"judge": "judge-1"}) == {False}


def test_a_log_that_is_read_twice_is_counted_anew(file: Path) -> None:
    reading = formats.read(file, only={"judge": "judge-1"})
    counts = []
    for _ in range(2):
        kept = sum(len(batch.judgments) for batch in reading.batches())
        assert reading.selection is not None
        counts.append((kept, reading.selection.kept, reading.selection.read))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("from_file", [True, False])
def test_a_ranking_of_a_part_is_that_of_a_log_with_only_this_part(file: Path, from_file: bool) -> None:
    expected = streams.rank([each for each in LOG if each.source == "turker"])
    found = streams.rank(file if from_file else LOG, only={"source": "turker"})
    assert found.rows == expected.rows
    assert (found.read, found.left_out) == (expected.read, len(LOG) - expected.read)
    assert f"; {found.left_out} of {len(LOG)} left out" in str(found)
    assert "left out" not in str(expected)


def tagged() -> list[Judgment]:
    """Return the log, of which every other judgment has a language."""
    return [
        replace(each, tags={"language": "de" if place % 4 == 1 else "fr"} if place % 2 else None)
        for place, each in enumerate(LOG)
    ]


@pytest.mark.parametrize(
    ("only", "places"),
    [
        ({"tag.language": "fr"}, {3}),
        ({"tag.language": ["de", "fr"]}, {1, 3}),
        ({"tag.language!": "de"}, {0, 2, 3}),
        ({"tag.language!": ["de", "fr"]}, {0, 2}),
        ({"tag.language": ["de", "fr"], "tag.language!": "fr"}, {1}),
    ],
)
def test_a_tag_selects_judgments_or_leaves_them_out(only: dict[str, str | list[str]], places: set[int]) -> None:
    log = tagged()
    (found,) = LogSelection(only).batches([log])
    assert found == [each for place, each in enumerate(log) if place % 4 in places]


def test_a_system_can_be_left_out() -> None:
    (found,) = LogSelection({"system!": ["system-1", "system-2"]}).batches([LOG])
    (expected,) = LogSelection({"system": [f"system-{k}" for k in range(8) if k not in (1, 2)]}).batches([LOG])
    assert found == expected


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ({"tag.": "x"}, "no field 'tag.'"),
        ({"tag.language": "dd"}, "no judgment has this tag.language: 'dd'; known: de, fr"),
        ({"tag.language!": "dd"}, "no judgment has this tag.language: 'dd'"),
        ({"tag.domain": "news"}, "no judgment has a tag.domain"),
        ({"judge!": [f"judge-{k}" for k in range(7)]}, "none of 200 judgments is left by judge; leave out fewer"),
    ],
)
def test_a_tag_or_an_exception_that_does_not_occur_is_an_error(only: dict[str, str | list[str]], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        list(LogSelection(only).batches([tagged()]))


def test_tags_do_not_change_a_ranking() -> None:
    assert streams.rank(tagged()).rows == streams.rank(LOG).rows
