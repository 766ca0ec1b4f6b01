"""The sample log is what its generator makes, and it can be ranked."""

from __future__ import annotations

from pathlib import Path

from samples.generate import JUDGES, JUDGMENTS, SKILLS, sample_csv
from streams import formats

SAMPLE = Path("samples/arena.csv")


def test_the_sample_is_generated_byte_for_byte() -> None:
    assert SAMPLE.read_text() == sample_csv(), "run `make sample`"


def test_the_sample_is_an_arena_log_of_the_stated_size() -> None:
    reading = formats.read(SAMPLE)
    judgments = [entry.judgment for entry in reading]
    assert reading.format is formats.FORMATS["arena"]
    assert len(judgments) == JUDGMENTS
    assert len({judgment.judge for judgment in judgments}) == JUDGES
    assert {system for judgment in judgments for system in judgment.systems} == set(SKILLS.systems)
    assert SAMPLE.stat().st_size < 200_000
