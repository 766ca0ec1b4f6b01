"""Alerts, dashboard and docs ask for metrics and labels that exist, and the docs tell of every one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import promql_parser
import pytest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families

from streams.metrics import MonitorMetrics, PartitionProgress, WorkerMetrics
from streams.wire.reasons import REASONS
from streams.wire.topics import TOPICS

ROOT = Path(__file__).parents[2]
PROMETHEUS, GRAFANA = ROOT / "deploy" / "prometheus", ROOT / "deploy" / "grafana"
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
JOBS = frozenset({"judgestream-worker", "judgestream-monitor"})
# What Prometheus says itself of each target, and the labels that it gives to each series.
TARGET_LABELS = frozenset({"job", "instance"})
# Labels whose values are known beforehand: a typing error in one of them would match nothing for ever.
VALUES = {
    "outcome": {"applied", "duplicate", "rejected", "held", "forwarded"},
    "reason": set(REASONS),
    "server": {"kafka", "redis"},
    "topic": {topic.name for topic in TOPICS},
    "job": JOBS,
}


class Series(NamedTuple):
    about: str
    labels: frozenset[str]


def told() -> dict[str, Series]:
    """The series that a worker and a monitor can give, as Prometheus reads them, with their labels."""
    worker, monitor = WorkerMetrics(), MonitorMetrics()
    worker.watch_partitions(lambda: [PartitionProgress(0, 1, 2.0, 3)])
    found = {"up": Series("", frozenset())}
    for metrics in (worker, monitor):
        for metric in vars(metrics).values():
            if isinstance(metric, MetricWrapperBase) and metric._labelnames:
                metric.labels(*metric._labelnames)
        for family in text_string_to_metric_families(metrics.exposition()[0].decode()):
            for sample in family.samples:
                found[sample.name] = Series(family.documentation, frozenset(sample.labels) | TARGET_LABELS)
    return found


TOLD = told()
GROUPS = msgspec.yaml.decode((PROMETHEUS / "alerts.yml").read_bytes())["groups"]
RULES = [rule for group in GROUPS for rule in group["rules"]]
DASHBOARD: dict[str, Any] = json.loads((GRAFANA / "dashboards" / "judgestream.json").read_text())


def asked() -> Iterator[tuple[str, str]]:
    """Every question in PromQL, with its place."""
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")
            yield f"{panel['title']} {target['refId']}", expression


@pytest.mark.parametrize("question", [pytest.param(text, id=place) for place, text in asked()])
def test_a_question_names_series_and_labels_that_exist(question: str) -> None:
    selectors: list[promql_parser.VectorSelector] = []
    grouped: set[str] = set()

    def look_at(node: promql_parser.Expr) -> bool:
        if isinstance(node, promql_parser.VectorSelector):
            selectors.append(node)
        if isinstance(node, promql_parser.AggregateExpr) and node.modifier:
            grouped.update(node.modifier.labels)
        return True

    promql_parser.walk(promql_parser.parse(question), look_at)
    assert selectors
    assert "$" not in question
    for selector in selectors:
        assert selector.name in TOLD
        for matcher in selector.matchers.matchers:
            assert matcher.name in TOLD[selector.name].labels | TARGET_LABELS
            if matcher.name in VALUES and matcher.op == promql_parser.MatchOp.Equal:
                assert matcher.value in VALUES[matcher.name]
        assert grouped <= TOLD[selector.name].labels | TARGET_LABELS


def test_an_average_or_a_rate_is_taken_of_what_can_only_grow() -> None:
    for place, question in asked():
        for function, name in re.findall(r"\b(rate|increase|deriv)\((\w+)", question):
            grows = name.endswith(("_total", "_bucket", "_count", "_sum"))
            assert grows == (function != "deriv"), place


def test_every_series_is_shown_on_the_dashboard_or_watched_by_an_alert() -> None:
    questions = "\n".join(question for _, question in asked())
    ours = {name for name in TOLD if name.startswith("judgestream_")}
    unseen = {name for name in ours if not name.endswith(("_count", "_sum")) and name not in questions}
    assert unseen == {
        "judgestream_worker_log_end_offset",  # the lag says it
        "judgestream_monitor_campaigns",
        "judgestream_monitor_records_consumed_total",
    }


def test_panels_do_not_overlap_and_have_ids_and_names_of_their_own() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + i, place["y"] + k) for i in range(place["w"]) for k in range(place["h"])}
        assert max(x for x, _ in cells) < 24
        assert taken.isdisjoint(cells), panel["title"]
        taken |= cells


def test_an_alert_says_what_happened_how_grave_it_is_and_what_to_do() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["annotations"]["description"].endswith((".", "?"))
        for label in re.findall(r"\$labels\.(\w+)", str(rule["annotations"])):
            series = re.findall(r"\b(?:judgestream|process)_\w+|\bup\b", rule["expr"])
            assert all(label in TARGET_LABELS | TOLD[name].labels for name in series)
            assert all(label in names for names in re.findall(r"by \(([^)]*)\)", rule["expr"])), rule["alert"]


def test_the_docs_tell_of_every_alert_and_of_no_other() -> None:
    documented = re.findall(r"^\| `(Judgestream\w+)` \|", OPERATIONS, re.MULTILINE)
    assert documented == [rule["alert"] for rule in RULES]


def test_the_docs_tell_of_every_metric_as_it_is_declared_and_of_no_other() -> None:
    rows = re.findall(r"^\| `(judgestream_\w+)` \|([^|]*)\| ([^|]*) \|$", OPERATIONS, re.MULTILINE)
    documented = {name: (set(re.findall(r"`(\w+)`", labels)), about) for name, labels, about in rows}
    declared = {}
    for name, series in TOLD.items():
        if name.startswith("judgestream_") and not name.endswith(("_sum", "_count")):
            labels = series.labels - TARGET_LABELS - {"le"}
            declared[name.removesuffix("_bucket")] = (set(labels), series.about)
    assert documented == declared


def test_prometheus_scrapes_both_jobs_by_the_names_that_the_alerts_use() -> None:
    config = msgspec.yaml.decode((PROMETHEUS / "prometheus.yml").read_bytes())
    assert {job["job_name"] for job in config["scrape_configs"]} == JOBS
    for file in config["rule_files"]:
        assert (PROMETHEUS / file).is_file()


def test_the_alerts_fire_when_they_should() -> None:
    """Prometheus' own tool is asked where there is one; what stands above holds in any case."""
    promtool = shutil.which("promtool")
    if promtool is None:
        return
    for arguments in (["check", "config", "prometheus.yml"], ["test", "rules", "alerts_test.yml"]):
        done = subprocess.run([promtool, *arguments], cwd=PROMETHEUS, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
