"""Who may read and write, how often, from where; and what every answer carries."""

from __future__ import annotations

import logging

import pytest

from streams.errors import SettingError
from streams.monitor.backends.embedded import EmbeddedBackend
from streams.monitor.http.access import Access
from streams.monitor.http.limits import Quota
from streams.monitor.http.tokens import entry_of
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from tests.builders import judgment
from tests.monitor.site import SECRET, TOKEN, Running, running

OTHER = "fedcba9876543210"
CLOSED = Settings(monitor_tokens=f"{entry_of('one', SECRET)},{entry_of('two', OTHER)}", monitor_reads="closed")
EVERY_PATH = (
    "/",
    "/campaigns",
    "/campaigns/none",
    "/nowhere",
    "/status",
    "/static/none.js",
    "/openapi.json",
    "/healthz",
)


@pytest.mark.parametrize("path", EVERY_PATH)
def test_every_answer_carries_the_headers_that_keep_a_browser_safe(monitor: Running, path: str) -> None:
    headers = monitor.ask(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers


def test_what_the_api_answers_is_not_cached(monitor: Running) -> None:
    monitor.publish(judgment(1))
    for path in ("/campaigns", "/campaigns/c/pairs", "/campaigns/none", "/nowhere"):
        assert monitor.ask(path).headers["Cache-Control"] == "no-store"


def test_where_reads_are_closed_a_token_opens_them() -> None:
    with running(CLOSED) as monitor:
        for path in ("/campaigns", "/campaigns/c/leaderboard", "/events", "/status", "/metrics"):
            answer = monitor.ask(path)
            assert (answer.status, answer.json["error"]["reason"]) == (401, "token_needed")
        for path in ("/", "/healthz", "/readyz", "/openapi.json", "/static/index.html"):
            assert monitor.ask(path).status == 200
        assert monitor.ask("/campaigns", headers=TOKEN).status == 200
        assert monitor.ask("/campaigns", headers={"Authorization": f"bearer {OTHER}"}).status == 200


def test_more_requests_than_the_rate_wait_and_another_sender_does_not() -> None:
    with running(Settings(monitor_rate=1, monitor_tokens=entry_of("one", SECRET))) as monitor:
        answers = [monitor.ask("/campaigns") for _ in range(4)]
        assert [answer.status for answer in answers[:2]] == [200, 200]
        refused = next(answer for answer in answers if answer.status == 429)
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.json["error"]["reason"] == "too_many_requests"
        assert monitor.ask("/campaigns", headers=TOKEN).status == 200
        assert monitor.ask("/healthz").status == 200


def test_a_quota_fills_again_and_remembers_a_bounded_number_of_senders() -> None:
    quota = Quota(rate=10)
    assert [quota.wait("a", 0.0) for _ in range(20)] == [0.0] * 20
    assert quota.wait("a", 0.0) == pytest.approx(0.1)
    assert quota.wait("a", 0.11) == 0.0
    for number in range(20_000):
        quota.wait(str(number), 1.0)
    assert len(quota._buckets) <= 10_000


def test_pages_of_other_origins_may_ask_only_if_they_are_named() -> None:
    with running(Settings(monitor_origins="https://a.example, https://b.example")) as monitor:
        for origin, allowed in (("https://a.example", "https://a.example"), ("https://evil.example", None)):
            headers = monitor.ask("/campaigns", headers={"Origin": origin}).headers
            assert headers.get("Access-Control-Allow-Origin") == allowed
            assert headers["Vary"] == "Origin"
        preflight = monitor.ask("/campaigns", method="OPTIONS", headers={"Origin": "https://a.example"})
        assert preflight.status == 204
        assert "Authorization" in preflight.headers["Access-Control-Allow-Headers"]


def test_by_default_no_other_origin_may_ask(monitor: Running) -> None:
    answer = monitor.ask("/campaigns", method="OPTIONS", headers={"Origin": "https://a.example"})
    assert answer.status == 405
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_closed_reads_need_a_token_that_exists() -> None:
    with pytest.raises(SettingError, match="nobody could read"):
        Access.of(Settings(monitor_reads="closed"), EmbeddedBackend(Embedded(Settings())))


def test_no_line_of_the_log_names_a_secret_or_a_judge(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), running(CLOSED) as monitor:
        monitor.post("/campaigns/c/judgments", {"id": "1", "segment": "s", "judge": "alice", "systems": ["a", "b"]})
        monitor.post("/campaigns/c/next-match", {"judge": "alice"})
        for _ in range(5):
            monitor.ask("/campaigns", headers={"Authorization": f"Bearer {SECRET}wrong"})
    lines = "\n".join(record.getMessage() for record in caplog.records)
    assert "the token one" in lines
    assert SECRET not in lines
    assert "alice" not in lines
