"""The metrics of a monitor: what it was asked, what it answered, and what it passed on."""

from __future__ import annotations

from streams.metrics.base import SECONDS, Metrics

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
UPSTREAMS = ("kafka", "redis")


class MonitorMetrics(Metrics):
    """What a monitor has done; its routes are templates (`/campaigns/{campaign}`), so their number is the program's."""

    def __init__(self) -> None:
        super().__init__("monitor")
        self.http_requests = self._counter(
            "http_requests", "Requests answered, by route, method and status.", ["route", "method", "status"]
        )
        self.http_seconds = self._histogram(
            "http_request_duration_seconds", "Until a request was answered; event streams are left out.",
            ["route", "method"], buckets=SECONDS,
        )  # fmt: skip
        self.event_streams = self._gauge("event_streams", "Event streams open now.")
        self.events_sent = self._counter("events_sent", "Server-sent events, by their name.", ["event"])
        self.judgments_published = self._counter(
            "judgments_published", "Judgments that came by HTTP; the broker has them."
        )
        self.publish_seconds = self._histogram(
            "publish_duration_seconds", "Until the broker had the judgments of a request.", buckets=SECONDS
        )
        self.leases = self._counter("leases", "Match requests leased to a judge.")
        self.records_consumed = self._counter("records_consumed", "Records read from the output topics.", ["topic"])
        self.upstream_errors = self._counter("upstream_errors", "Calls to Kafka or Redis that failed.", ["upstream"])
        self.campaigns = self._gauge("campaigns", "Campaigns known.")
        self.ready = self._gauge("ready", "What /readyz says: 1 is ready.")
        for upstream in UPSTREAMS:
            self.upstream_errors.labels(upstream)

    def answered(self, *, route: str | None, method: str, status: int, seconds: float | None) -> None:
        """Count a request that was answered; no route is one that does not exist, no time an event stream's."""
        route, method = route or "none", method if method in METHODS else "other"
        self.http_requests.labels(route, method, str(status)).inc()
        if seconds is not None:
            self.http_seconds.labels(route, method).observe(seconds)
