"""The metrics of a monitor: requests, event streams, published judgments."""

from __future__ import annotations

from streams.metrics.base import SECONDS, Metrics

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
UPSTREAMS = ("kafka", "redis")


class MonitorMetrics(Metrics):
    """The counters and gauges of one monitor. A route is a template (`/campaigns/{campaign}`), so there are few."""

    def __init__(self) -> None:
        super().__init__("monitor")
        self.http_requests = self._counter(
            "http_requests", "Requests answered, by route, method and status.", ["route", "method", "status"]
        )
        self.http_seconds = self._histogram(
            "http_request_duration_seconds", "Time until a request was answered, without event streams.",
            ["route", "method"], buckets=SECONDS,
        )  # fmt: skip
        self.event_streams = self._gauge("event_streams", "Event streams that are open.")
        self.events_sent = self._counter("events_sent", "Server-sent events, by name.", ["event"])
        self.judgments_published = self._counter(
            "judgments_published", "Judgments that were posted over HTTP and that the broker has."
        )
        self.publish_seconds = self._histogram(
            "publish_duration_seconds", "Time until the broker had the judgments of a request.", buckets=SECONDS
        )
        self.leases = self._counter("leases", "Match requests leased to a judge.")
        self.records_consumed = self._counter("records_consumed", "Records read from the output topics.", ["topic"])
        self.upstream_errors = self._counter("upstream_errors", "Calls to Kafka or Redis that failed.", ["upstream"])
        self.campaigns = self._gauge("campaigns", "Campaigns known.")
        self.ready = self._gauge("ready", "Whether the monitor is ready, as /readyz reports: 1 if it is.")
        self.workers = self._gauge("workers", "Workers that report.")
        self.partitions_waiting = self._gauge(
            "partitions_waiting", "Partitions whose records wait and are not applied, as /readyz reports."
        )
        for upstream in UPSTREAMS:
            self.upstream_errors.labels(upstream)

    def count_request(self, *, route: str | None, method: str, status: int, seconds: float | None) -> None:
        """Count a request that was answered. `route` is None if it does not exist, `seconds` for an event stream."""
        route, method = route or "none", method if method in METHODS else "other"
        self.http_requests.labels(route, method, str(status)).inc()
        if seconds is not None:
            self.http_seconds.labels(route, method).observe(seconds)
