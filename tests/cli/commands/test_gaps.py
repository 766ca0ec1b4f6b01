"""`judgestream gaps`: what is listed, and that the loss of records is accepted only with the right place and a yes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from click.testing import CliRunner, Result

from streams.cli import stored_campaign
from streams.cli.commands import gaps
from streams.settings import Settings
from streams.stores.memory import MemoryStore

HOME = "judgments.v1/3"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(gaps.command, arguments)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    store = MemoryStore()

    @contextmanager
    def open_store(_: Settings) -> Iterator[MemoryStore]:
        yield store

    monkeypatch.setattr(stored_campaign, "open_store", open_store)
    return store


def report(store: MemoryStore) -> None:
    lease, _ = store.open(HOME)
    store.report_gap(lease, 0, 24_000)


def test_without_a_gap_there_is_nothing_to_do(store: MemoryStore) -> None:
    result = run()
    assert (result.exit_code, result.output) == (0, "No records were deleted before they were read.\n")


def test_a_gap_is_listed_until_and_after_it_is_accepted(store: MemoryStore) -> None:
    report(store)
    result = run()
    assert result.exit_code == 1
    assert f"{HOME}:0-24000" in result.output
    assert "24,000" in result.output
    assert "no, the partition is stopped" in result.output
    accepted = run("--accept", f"{HOME}:0-24000", "--yes")
    assert accepted.exit_code == 0, accepted.output
    assert f"The worker of {HOME} goes on at offset 24000" in accepted.output
    result = run("--json")
    assert result.exit_code == 0
    (row,) = json.loads(result.output)["gaps"]
    assert (row["partition"], row["start"], row["end"], row["missing"]) == (HOME, 0, 24_000, 24_000)
    assert row["accepted"] is not None


def test_the_loss_is_named_and_needs_a_yes(store: MemoryStore) -> None:
    report(store)
    result = run("--accept", f"{HOME}:0-24000")
    assert result.exit_code == 2
    assert "Their judgments are lost" in result.output
    assert "backup of the topic" in result.output
    assert store.read_gaps(HOME)[0].accepted is None


@pytest.mark.parametrize("place", [f"{HOME}:0-23999", "judgments.v1/2:0-24000"])
def test_only_the_gap_that_was_found_can_be_accepted(store: MemoryStore, place: str) -> None:
    report(store)
    result = run("--accept", place, "--yes")
    assert result.exit_code == 1
    assert f"{place} is not a gap" in result.output


@pytest.mark.parametrize("place", ["0-24000", f"{HOME}", f"{HOME}:24000", ""])
def test_a_place_in_another_form_is_refused(store: MemoryStore, place: str) -> None:
    result = run("--accept", place, "--yes")
    assert result.exit_code == 2
    assert "it must be like judgments.v1/0:1000-25000" in result.output
