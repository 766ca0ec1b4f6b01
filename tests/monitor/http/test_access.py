"""Who may read and write, how often, from where; and what every answer carries."""

from __future__ import annotations

import logging
from http.cookies import SimpleCookie

import pytest

from streams.errors import SettingError
from streams.monitor.http.access import Access, tokens_of
from streams.monitor.http.limits import Quota
from streams.settings import Settings
from tests.builders import judgment
from tests.monitor.site import JSON, SECRET, TOKEN, Running, running

OTHER = "fedcba9876543210"
CLOSED = Settings(monitor_tokens=f"one:{SECRET},two:{OTHER}", monitor_reads="closed")
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


def session(monitor: Running, secret: str = SECRET) -> SimpleCookie:
    answer = monitor.ask("/session", method="POST", body=b'{"token":"%s"}' % secret.encode(), headers=JSON)
    assert answer.status == 204, answer
    return SimpleCookie(answer.headers["Set-Cookie"])


def cookie(found: SimpleCookie) -> dict[str, str]:
    return {"Cookie": f"judgestream={found['judgestream'].value}"}


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


def test_where_reads_are_closed_a_token_or_a_session_opens_them() -> None:
    with running(CLOSED) as monitor:
        for path in ("/campaigns", "/campaigns/c/leaderboard", "/events", "/status", "/metrics"):
            answer = monitor.ask(path)
            assert (answer.status, answer.json["error"]["reason"]) == (401, "token_needed")
        for path in ("/", "/healthz", "/readyz", "/openapi.json", "/static/index.html"):
            assert monitor.ask(path).status == 200
        assert monitor.ask("/campaigns", headers=TOKEN).status == 200
        assert monitor.ask("/campaigns", headers={"Authorization": f"bearer {OTHER}"}).status == 200
        assert monitor.ask("/campaigns", headers=cookie(session(monitor))).status == 200


def test_a_session_is_for_reading_only_and_not_for_scripts() -> None:
    with running(CLOSED) as monitor:
        found = session(monitor)
        morsel = found["judgestream"]
        assert morsel["httponly"]
        assert morsel["samesite"] == "Strict"
        assert int(morsel["max-age"]) > 0
        assert SECRET not in morsel.value
        answer = monitor.ask("/campaigns/c/judgments", method="POST", body=b"{}", headers=JSON | cookie(found))
        assert answer.status == 401
        assert monitor.ask("/campaigns/c/next-match?judge=x", headers=cookie(found)).status == 401
        ended = SimpleCookie(monitor.ask("/session", method="DELETE").headers["Set-Cookie"])
        assert ended["judgestream"].value == ""


@pytest.mark.parametrize("value", ["", "one", "one.99999999999.x", "three.99999999999.x", ".", "one.²."])
def test_a_cookie_that_was_made_up_opens_nothing(value: str) -> None:
    with running(CLOSED) as monitor:
        headers = {"Cookie": f"judgestream={value}".encode().decode("latin-1")}
        assert monitor.ask("/campaigns", headers=headers).status == 401


def test_a_session_ends_with_its_time_or_with_its_token() -> None:
    access = Access.of(CLOSED)
    made = access.session("one", now=1000.0)
    assert access._is_valid(made, now=1000.0 + 3600)
    assert not access._is_valid(made, now=1000.0 + 100 * 3600)
    assert not Access({"two": OTHER})._is_valid(made, now=1000.0)
    assert not Access({"one": OTHER})._is_valid(made, now=1000.0)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"token":3}', b"\xff", b"[" * 100_000])
def test_a_session_without_a_token_is_refused(body: bytes) -> None:
    with running(CLOSED) as monitor:
        assert monitor.ask("/session", method="POST", body=body, headers=JSON).status == 422


def test_a_session_with_a_wrong_token_is_refused() -> None:
    with running(CLOSED) as monitor:
        assert monitor.ask("/session", method="POST", body=b'{"token":"wrong"}', headers=JSON).status == 401


def test_who_guesses_tokens_is_made_to_wait() -> None:
    with running(CLOSED) as monitor:
        wrong = {"Authorization": "Bearer wrong"}
        answers = [monitor.ask("/campaigns", headers=wrong) for _ in range(10)]
        assert answers[0].status == 401
        assert answers[-1].status == 429
        guesses = [
            monitor.ask("/session", method="POST", body=b'{"token":"wrong"}', headers=JSON).status for _ in range(10)
        ]
        assert guesses[-1] == 429
        assert monitor.ask("/campaigns", headers=TOKEN).status == 200


def test_more_requests_than_the_rate_wait_and_another_sender_does_not() -> None:
    with running(Settings(monitor_rate=1, monitor_tokens=f"one:{SECRET}")) as monitor:
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("secret-without-name", "name:secret"),
        (f"a b:{SECRET}", "simple names"),
        (f":{SECRET}", "simple names"),
        ("one:short", "'one' needs at least 16"),
        (f"one:{SECRET},one:{OTHER}", "twice"),
        ("one:" + "ü" * 20, "ASCII"),
    ],
)
def test_tokens_that_would_not_do_are_refused_without_showing_them(text: str, words: str) -> None:
    with pytest.raises(SettingError, match=words) as caught:
        tokens_of(text)
    assert SECRET not in str(caught.value)
    assert "ü" not in str(caught.value)


def test_closed_reads_need_a_token_that_exists() -> None:
    with pytest.raises(SettingError, match="nobody could read"):
        Access.of(Settings(monitor_reads="closed"))


def test_no_line_of_the_log_names_a_secret_or_a_judge(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), running(CLOSED) as monitor:
        monitor.post("/campaigns/c/judgments", {"id": "1", "segment": "s", "judge": "alice", "systems": ["a", "b"]})
        monitor.ask("/campaigns/c/next-match?judge=alice", headers=TOKEN)
        for _ in range(5):
            monitor.ask("/campaigns", headers={"Authorization": f"Bearer {SECRET}wrong"})
    lines = "\n".join(record.getMessage() for record in caplog.records)
    assert "the token one" in lines
    assert SECRET not in lines
    assert "alice" not in lines
