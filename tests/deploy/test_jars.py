from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest

from deploy import jars
from deploy.errors import JarsError, ToolMissingError

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = {"broker.jar": b"the broker", "clients.jar": b"the clients"}
# Stands in for Maven: finds its target among the arguments, as the real one does.
MAVEN = """#!/bin/sh
PATH=/bin:/usr/bin
for word in "$@"; do case $word in -DoutputDirectory=*) target=${word#*=};; esac; done
mkdir "$target"
"""


@pytest.fixture
def listing(tmp_path: Path) -> Path:
    file = tmp_path / "jars.sha256"
    file.write_text("".join(f"{hashlib.sha256(jar).hexdigest()}  {name}\n" for name, jar in CONTENT.items()))
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "jars"
    folder.mkdir()
    for name, jar in CONTENT.items():
        (folder / name).write_bytes(jar)
    return folder


def program(folder: Path, name: str, script: str = "#!/bin/sh\n") -> None:
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)


def maven_that(brings: dict[str, bytes], *, exit_code: int = 0) -> str:
    lines = [f"printf '{jar.decode()}' > \"$target/{name}\"" for name, jar in brings.items()]
    return MAVEN + "\n".join([*lines, "echo the repository is on fire", f"exit {exit_code}\n"])


def test_exactly_the_pinned_jars_pass(folder: Path, listing: Path) -> None:
    jars.verify(folder, listing=listing)


def test_a_changed_jar_is_named_with_what_was_expected_and_found(folder: Path, listing: Path) -> None:
    (folder / "broker.jar").write_bytes(b"another broker")
    with pytest.raises(JarsError) as caught:
        jars.verify(folder, listing=listing)
    expected = hashlib.sha256(b"the broker").hexdigest()
    actual = hashlib.sha256(b"another broker").hexdigest()
    assert f"broker.jar has the wrong SHA-256: expected {expected}, actual {actual}" in str(caught.value)
    assert "clients.jar" not in str(caught.value)


def test_a_missing_jar_is_named(folder: Path, listing: Path) -> None:
    (folder / "clients.jar").unlink()
    with pytest.raises(JarsError, match=r"clients\.jar is missing"):
        jars.verify(folder, listing=listing)


def test_an_extra_jar_is_named(folder: Path, listing: Path) -> None:
    (folder / "stowaway.jar").write_bytes(b"")
    with pytest.raises(JarsError, match=r"stowaway\.jar is not in"):
        jars.verify(folder, listing=listing)


def test_a_cache_that_was_never_filled_says_how_to_fill_it(tmp_path: Path, listing: Path) -> None:
    with pytest.raises(JarsError, match=r"servers\.py fetch"):
        jars.verify(tmp_path / "nowhere", listing=listing)


def test_a_fetch_brings_the_pinned_jars(tmp_path: Path, listing: Path, programs: Path) -> None:
    program(programs, "java")
    program(programs, "mvn", maven_that(CONTENT))
    jars.fetch(tmp_path / "cache" / "kafka", listing=listing)
    assert {path.name: path.read_bytes() for path in (tmp_path / "cache" / "kafka").iterdir()} == CONTENT


def test_a_fetch_of_a_changed_jar_leaves_no_cache(tmp_path: Path, listing: Path, programs: Path) -> None:
    program(programs, "java")
    program(programs, "mvn", maven_that(CONTENT | {"broker.jar": b"another broker"}))
    with pytest.raises(JarsError, match=r"broker\.jar has the wrong SHA-256"):
        jars.fetch(tmp_path / "cache" / "kafka", listing=listing)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["kafka.lock"]


def test_a_fetch_that_breaks_off_leaves_no_cache_and_says_what_to_do(
    tmp_path: Path, listing: Path, programs: Path
) -> None:
    program(programs, "java")
    program(programs, "mvn", maven_that({"broker.jar": b"the broker"}, exit_code=1))
    with pytest.raises(JarsError) as caught:
        jars.fetch(tmp_path / "cache" / "kafka", listing=listing)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["kafka.lock"]
    for part in (
        "the repository is on fire",
        "copy the jars listed in",
        "JUDGESTREAM_KAFKA",
        "openjdk-17-jre-headless maven",
    ):
        assert part in str(caught.value)


def test_a_fetch_replaces_a_damaged_cache(folder: Path, listing: Path, programs: Path) -> None:
    program(programs, "java")
    program(programs, "mvn", maven_that(CONTENT))
    (folder / "broker.jar").write_bytes(b"another broker")
    jars.fetch(folder, listing=listing)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT


def test_a_good_cache_needs_no_maven(folder: Path, listing: Path, programs: Path) -> None:
    jars.fetch(folder, listing=listing)
    jars.verify(folder, listing=listing)


def test_without_maven_the_message_names_the_ways_on(tmp_path: Path, listing: Path, programs: Path) -> None:
    program(programs, "java")
    with pytest.raises(ToolMissingError) as caught:
        jars.fetch(tmp_path / "cache" / "kafka", listing=listing)
    for part in ("mvn is not on the PATH", "apt-get install openjdk-17-jre-headless maven", "JUDGESTREAM_KAFKA"):
        assert part in str(caught.value)
    assert str(tmp_path / "cache" / "kafka") in str(caught.value)


def test_without_java_the_message_names_the_package(programs: Path) -> None:
    with pytest.raises(ToolMissingError, match="apt-get install openjdk-17-jre-headless"):
        jars.java()


def test_java_home_comes_before_the_path(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(programs, "java")
    (tmp_path / "jdk" / "bin").mkdir(parents=True)
    program(tmp_path / "jdk" / "bin", "java")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert jars.java() == str(tmp_path / "jdk" / "bin" / "java")


def test_the_committed_list_pins_the_version_that_the_pom_asks_for() -> None:
    asked = re.findall(
        r"<artifactId>([^<]+)</artifactId>\s*<version>([^<]+)</version>\s*</dependency>", jars.POM.read_text()
    )
    assert ("kafka_2.13", jars.KAFKA_VERSION) in asked
    assert {f"{name}-{version}.jar" for name, version in asked} <= jars.pinned().keys()
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in jars.pinned().values())
