"""Settings: flags before environment before file before default, and every mistake is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.errors import SettingError
from streams.settings import Settings, load, masked_value

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_nearest_place_wins(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('kafka = "file:1"\nredis = "redis://file"\npartitions = 3\n')
    environment = {"JUDGESTREAM_KAFKA": "environment:1", "JUDGESTREAM_REDIS": "redis://environment", "HOME": "/"}
    settings = load({"kafka": "flag:1", "seed": None}, file=file, environment=environment)
    assert (settings.kafka, settings.redis, settings.partitions, settings.seed) == (
        "flag:1",
        "redis://environment",
        3,
        Settings().seed,
    )


def test_a_file_in_the_working_directory_is_read(tmp_path: Path) -> None:
    (tmp_path / "judgestream.toml").write_text("partitions = 5")
    assert load(environment={}).partitions == 5


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("partitions = 6")
    assert load(environment={"JUDGESTREAM_CONFIG": str(tmp_path / "x.toml")}).partitions == 6
    with pytest.raises(SettingError, match=r"JUDGESTREAM_CONFIG.*nowhere"):
        load(environment={"JUDGESTREAM_CONFIG": "nowhere.toml"})


def test_text_becomes_what_the_setting_is() -> None:
    settings = load({"batch_seconds": "0.5"}, environment={"JUDGESTREAM_PARTITIONS": "4"})
    assert (settings.batch_seconds, settings.partitions) == (0.5, 4)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"JUDGESTREAM_PARTITONS": "1"}, r"JUDGESTREAM_PARTITONS.*did you mean 'JUDGESTREAM_PARTITIONS'"),
        ({"JUDGESTREAM_PARTITIONS": "many"}, r"JUDGESTREAM_PARTITIONS is 'many'"),
        ({"JUDGESTREAM_PARTITIONS": "0"}, r"JUDGESTREAM_PARTITIONS is '0'.*>= 1"),
        ({"JUDGESTREAM_BATCH_SECONDS": "nan"}, r"JUDGESTREAM_BATCH_SECONDS is 'nan'"),
        ({"JUDGESTREAM_UNKNOWN_CAMPAIGN": "ignore"}, r"JUDGESTREAM_UNKNOWN_CAMPAIGN is 'ignore'"),
        ({"JUDGESTREAM_REDIS": "localhost:6379"}, r"JUDGESTREAM_REDIS is 'localhost:6379'"),
    ],
)
def test_a_mistake_in_the_environment_is_named(environment: dict[str, str], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        load(environment=environment)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("partitons = 1", r"my.toml: no setting 'partitons'; did you mean 'partitions'"),
        ('partitions = "1x"', r"my.toml: partitions is '1x'"),
        ("partitions = 1.5", r"my.toml: partitions is '1.5'"),
        ("partitions = ", r"my.toml: not valid TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_the_file(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(SettingError, match=words):
        load(file=file, environment={})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"none.toml: can't be read"):
        load(file=tmp_path / "none.toml", environment={})


def test_secrets_are_never_shown() -> None:
    settings = Settings(judge_key="hunter2", redis="redis://user:hunter2@db:6379/0")
    everything = " ".join(masked_value(settings, name) for name in Settings.__struct_fields__)
    assert "hunter2" not in everything
    assert "hunter2" not in repr(settings)
    assert "redis://user:***@db:6379/0" in everything
    with pytest.raises(SettingError) as caught:
        load({"redis": "radis://user:hunter2@db"}, environment={})
    assert "hunter2" not in str(caught.value)


def test_settings_can_not_be_altered() -> None:
    with pytest.raises(AttributeError):
        Settings().kafka = "x"  # type: ignore[misc]
