"""Fetch Kafka's jars with Maven into a cache, and check them against the pinned checksums before every use."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from deploy.errors import JarsError, ToolMissingError
from deploy.state import locked

_log = logging.getLogger(__name__)

KAFKA_VERSION = "4.1.1"
POM = Path(__file__).parent / "kafka" / "pom.xml"
LISTING = Path(__file__).parent / "kafka" / "jars.sha256"
_MOST_PROBLEMS = 5
_LOG_LINES = 15


def cache_folder() -> Path:
    """Return the folder with the jars. All checkouts of one user share it."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "judgestream" / f"kafka-{KAFKA_VERSION}"


def pinned(listing: Path = LISTING) -> dict[str, str]:
    """Read the SHA-256 of each jar, by file name, from the output of `sha256sum`."""
    lines = (line.split() for line in listing.read_text().splitlines())
    return {name: digest for digest, name in lines}


def verify(folder: Path, *, listing: Path = LISTING) -> None:
    """Raise `JarsError` unless a folder has exactly the pinned jars."""
    expected = pinned(listing)
    if not folder.is_dir():
        raise JarsError(f"{folder} with Kafka's jars does not exist. Run `python deploy/servers.py fetch`.")
    found = {path.name for path in folder.iterdir()}
    problems = [f"{name} is missing" for name in sorted(expected.keys() - found)]
    problems += [f"{name} is not in {listing}" for name in sorted(found - expected.keys())]
    for name in sorted(expected.keys() & found):
        actual = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if actual != expected[name]:
            problems.append(f"{name} has the wrong SHA-256: expected {expected[name]}, actual {actual}")
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        listed = [*problems[:_MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
        raise JarsError(
            f"{folder} does not contain the pinned jars:\n  " + "\n  ".join(listed) + "\n"
            "Remove that folder and run `python deploy/servers.py fetch`."
        )


def fetch(folder: Path, *, listing: Path = LISTING) -> None:
    """Fetch the jars into `folder`. If anything fails, the folder is left as it was."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent / f"{folder.name}.lock"):
        try:
            verify(folder, listing=listing)
        except JarsError as problem:
            if folder.exists():
                _log.info("%s\nFetching it again.", problem)
        else:
            _log.info("the jars of Kafka %s are in %s", KAFKA_VERSION, folder)
            return
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetch-") as temporary:
            fresh = Path(temporary) / "jars"
            _log.info("fetching the jars of Kafka %s with Maven into %s", KAFKA_VERSION, folder)
            _copy_with_maven(fresh, folder)
            verify(fresh, listing=listing)
            if folder.exists():
                folder.rename(Path(temporary) / "replaced")
            fresh.rename(folder)


def java() -> str:
    """Return the path of the Java program that runs Kafka."""
    home = os.environ.get("JAVA_HOME")
    found = (shutil.which("java", path=str(Path(home) / "bin")) if home else None) or shutil.which("java")
    if found is None:
        raise ToolMissingError(
            "java is not on the PATH. Install a Java 17+ runtime "
            "(`apt-get install openjdk-17-jre-headless`), or set JUDGESTREAM_KAFKA to the address of your own broker."
        )
    return found


def _copy_with_maven(target: Path, folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ToolMissingError(f"mvn is not on the PATH, so Kafka's jars cannot be fetched.\n{_remedies(folder)}")
    java()
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={target}"]
    run = subprocess.run(
        [maven, "-B", "-C", "-f", str(POM), *goal],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode != 0 or not target.is_dir():
        output = "\n  ".join(run.stdout.splitlines()[-_LOG_LINES:])
        raise JarsError(
            f"Maven could not fetch Kafka's jars (exit code {run.returncode}):\n  {output}\n{_remedies(folder)}"
        )


def _remedies(folder: Path) -> str:
    return (
        "Do one of these:\n"
        "  - install a Java 17+ runtime and Maven (`apt-get install openjdk-17-jre-headless maven`) "
        "with access to a Maven repository, and run `python deploy/servers.py fetch`\n"
        f"  - copy the jars listed in {LISTING} into {folder}\n"
        "  - set JUDGESTREAM_KAFKA to the address of your own broker"
    )
