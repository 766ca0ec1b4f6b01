"""`judgestream doctor`: checks that a worker can run."""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from streams.cli.log_partitions import PARTITIONER, describe_forwarded, name_partitions
from streams.cli.options import with_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.settings import Settings


@dataclass(frozen=True)
class CheckResult:
    """The result of one check; `fix` says what to do if it failed."""

    subject: str
    well: bool
    found: str
    fix: str = ""


@click.command("doctor", epilog="\b\nExample:\n  judgestream doctor --kafka broker:9092")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@with_settings("kafka", "redis", "namespace", "partitions")
def command(settings: Settings, *, as_json: bool) -> None:
    """Check that a worker can run and rate all campaigns, and show how to fix problems.

    The exit code is 1 if a check fails. Commands on files and the demo need none of this.
    """
    findings = [check(settings) for check in CHECKS]
    if as_json:
        from streams.wire.events import encode

        click.echo(encode({"findings": [asdict(finding) for finding in findings]}))
    else:
        for finding in findings:
            click.echo(f"{'✓' if finding.well else '✗'} {finding.subject:<14} {finding.found}")
            if not finding.well:
                click.echo(f"  {'':<14} → {finding.fix}")
        failed = sum(not finding.well for finding in findings)
        problems = f"{failed} problem{'s' * (failed != 1)} to fix."
        click.echo(f"\n{problems if failed else 'A worker can run.'}")
    sys.exit(0 if all(finding.well for finding in findings) else 1)


def _python(_: Settings) -> CheckResult:
    from importlib.metadata import version

    return CheckResult("judgestream", True, f"{version('judgestream')} on Python {platform.python_version()}")


def _check(subject: str, ask: Callable[[], str], fix: str) -> CheckResult:
    """Return the answer, or the error with its fix."""
    from streams.errors import JudgestreamError

    try:
        return CheckResult(subject, True, ask())
    except JudgestreamError as error:
        return CheckResult(subject, False, str(error), fix)


def _kafka(settings: Settings) -> CheckResult:
    from streams.kafka.admin import describe_brokers

    return _check(
        "Kafka",
        lambda: describe_brokers(settings),
        "start Kafka (python deploy/servers.py start, or docker compose up -d kafka), or set JUDGESTREAM_KAFKA; "
        "if it needs TLS or a password, set JUDGESTREAM_KAFKA_SECURITY (docs/operations.md)",
    )


def _topics(settings: Settings) -> CheckResult:
    from streams.errors import TopicError
    from streams.kafka.admin import inspect_topics

    def ask() -> str:
        problems = [report.describe() for report in inspect_topics(settings) if report.problems]
        if problems:
            raise TopicError("\n".join(problems).replace("\n", f"\n  {'':<14} "))
        return "all exist, with the right configuration"

    return _check(
        "topics",
        ask,
        "create the missing topics with: judgestream topics --create; repair the others with the commands above",
    )


def _redis(settings: Settings) -> CheckResult:
    from streams.errors import SettingError
    from streams.settings import masked_value
    from streams.stores.redis.store import RedisStore

    store = RedisStore(settings.redis)
    found = _check(
        "Redis",
        lambda: f"{store.ping()} at {masked_value(settings, 'redis')}",
        "start Redis (python deploy/servers.py start, or docker compose up -d redis), or set JUDGESTREAM_REDIS",
    )
    if found.well:
        try:
            store.check_eviction()
        except SettingError as error:
            problem, _, fix = str(error).partition("; ")
            return CheckResult("Redis", False, problem, fix)
    return found


def _workers(settings: Settings) -> CheckResult:
    from streams.cli.worker_checks import check_workers
    from streams.errors import JudgestreamError, SettingError

    try:
        checks = check_workers(settings)
    except SettingError as error:
        return CheckResult("workers", False, str(error), "allow it, or use another user")
    except JudgestreamError as error:  # another check fails with it
        return CheckResult("workers", True, f"unknown: {error}")
    at_gaps = {lag.partition for lag in checks.lags if lag.stopped}  # the log is checked for them
    problems = [problem for problem in checks.findings.problems if not at_gaps.intersection(problem.partitions)]
    if not problems:
        return CheckResult("workers", True, checks.describe())
    return CheckResult(
        "workers",
        False,
        " ".join(f"{problem.text} {problem.detail}".strip() for problem in problems),
        " ".join(dict.fromkeys(problem.fix for problem in problems)),
    )


def _judge_key(settings: Settings) -> CheckResult:
    if settings.judge_key:
        return CheckResult("judge key", True, "set")
    return CheckResult(
        "judge key",
        False,
        "not set; a worker needs it to store judges under pseudonyms",
        "set JUDGESTREAM_JUDGE_KEY to a secret, e.g. the output of: openssl rand -hex 32",
    )


def _campaigns(settings: Settings) -> CheckResult:
    from streams.cli.campaign_checks import check_campaigns
    from streams.cli.stored_campaign import open_store
    from streams.errors import JudgestreamError

    try:
        with open_store(settings) as store:
            checks = check_campaigns(store, list(name_partitions(settings)))
    except JudgestreamError as error:
        return CheckResult("campaigns", True, f"unknown: {error}")
    again = f"; {checks.rated_again} being rated again after a retraction" if checks.rated_again else ""
    if not checks.problems:
        return CheckResult("campaigns", True, f"{checks.stored} stored, none is quarantined{again}")
    problems = "; ".join(f"{name} ({problem.text})" for name, problem in checks.problems.items())
    return CheckResult(
        "campaigns",
        False,
        f"{len(checks.problems)} of {checks.stored} with a problem: {problems}{again}",
        "; ".join(dict.fromkeys(problem.fix for problem in checks.problems.values())),
    )


def _log(settings: Settings) -> CheckResult:
    from streams.cli.stored_campaign import open_store
    from streams.errors import JudgestreamError
    from streams.stores.gaps import describe_gap

    names = list(name_partitions(settings))
    try:
        with open_store(settings) as store:
            gaps = [(name, gap) for name in names for gap in store.read_gaps(name)]
    except JudgestreamError as error:
        return CheckResult("log", True, f"unknown: {error}")
    accepted = sum(gap.missing for _, gap in gaps if gap.accepted)
    without = f"; {accepted:,} offsets are accepted as missing (judgestream gaps)" if accepted else ""
    stopped = [describe_gap(name, gap.start, gap.end).split(". ", 1) for name, gap in gaps if gap.accepted is None]
    if not stopped:
        return CheckResult("log", True, f"no partition is stopped at a gap{without}")
    return CheckResult("log", False, "; ".join(problem for problem, _ in stopped) + without, stopped[0][1])


def _partitioner(settings: Settings) -> CheckResult:
    from streams.cli.stored_campaign import open_store
    from streams.errors import JudgestreamError

    try:
        with open_store(settings) as store:
            found = describe_forwarded(store, name_partitions(settings))
    except JudgestreamError as error:
        return CheckResult("partitioner", True, f"unknown: {error}")
    # Nothing is lost, so this is no failure. The count stays after the producer has been repaired.
    return CheckResult(
        "partitioner", True, f"{found}; {PARTITIONER}" if found else "all records came on the right partition"
    )


CHECKS = (_python, _kafka, _topics, _redis, _judge_key, _workers, _log, _partitioner, _campaigns)
