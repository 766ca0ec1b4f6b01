"""Sessions: a browser reads with a cookie, until it leaves or its token goes."""

from __future__ import annotations

import json
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from streams.monitor.http import app
from streams.monitor.http.sessions import SESSION_SECONDS, hash_of_cookie
from streams.monitor.http.tokens import entry_of
from streams.monitor.ledger.memory import MemoryLedger
from streams.settings import Settings
from tests.builders import judgment
from tests.monitor.site import JSON, SECRET, Running, running
from tests.waiting import wait_for

WRITER = "a-secret-that-may-not-read"
TOKENS = f"{entry_of('one', SECRET, campaigns=['c', 'mine.*'])},{entry_of('writer', WRITER, scopes=['publish'])}"
CLOSED = Settings(monitor_tokens=TOKENS, monitor_reads="closed")


def session(monitor: Running, secret: str = SECRET) -> SimpleCookie:
    body = json.dumps({"token": secret}).encode()
    answer = monitor.ask("/session", method="POST", body=body, headers=JSON)
    assert answer.status == 204, answer
    return SimpleCookie(answer.headers["Set-Cookie"])


def cookie(found: SimpleCookie) -> dict[str, str]:
    return {"Cookie": f"judgestream={found['judgestream'].value}"}


def test_a_session_is_for_reading_only_and_not_for_scripts() -> None:
    with running(CLOSED) as monitor:
        found = session(monitor)
        morsel = found["judgestream"]
        assert morsel["httponly"]
        assert morsel["samesite"] == "Strict"
        assert int(morsel["max-age"]) == SESSION_SECONDS
        assert SECRET not in morsel.value
        assert monitor.ask("/campaigns", headers=cookie(found)).status == 200
        answer = monitor.ask("/campaigns/c/judgments", method="POST", body=b"{}", headers=JSON | cookie(found))
        assert answer.status == 401
        match = monitor.ask("/campaigns/c/next-match", method="POST", body=b"{}", headers=JSON | cookie(found))
        assert match.status == 401


def test_a_session_reads_the_campaigns_of_its_token() -> None:
    with running(CLOSED) as monitor:
        monitor.publish(judgment(1), judgment(1, campaign="theirs"))
        found = cookie(session(monitor))
        assert [each["campaign"] for each in monitor.ask("/campaigns", headers=found).json["campaigns"]] == ["c"]
        assert monitor.ask("/campaigns/theirs", headers=found).status == 403


def test_a_session_ends_when_it_is_deleted_and_so_do_its_streams() -> None:
    with running(CLOSED) as monitor:
        monitor.publish(judgment(1))
        mine, other = cookie(session(monitor)), cookie(session(monitor))
        monitor.headers = mine
        with monitor.events("/campaigns/c/events") as events:
            next(events)
            ended = SimpleCookie(monitor.ask("/session", method="DELETE").headers["Set-Cookie"])
            assert ended["judgestream"].value == ""
            assert all(event.event for event in events)  # the stream ends
        assert monitor.ask("/campaigns", headers=mine).status == 401
        assert monitor.ask("/campaigns", headers=other).status == 200


def test_sessions_and_streams_end_when_their_token_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "ACCESS_SECONDS", 0.05)
    file = tmp_path / "tokens"
    kept, gone = entry_of("kept", WRITER, scopes=["read"]), entry_of("gone", SECRET, scopes=["read"])
    file.write_text(f"{kept}\n{gone}\n")
    with running(Settings(monitor_tokens=f"@{file}", monitor_reads="closed")) as monitor:
        monitor.publish(judgment(1))
        mine, other = cookie(session(monitor)), cookie(session(monitor, WRITER))
        bearer = {"Authorization": f"Bearer {SECRET}"}
        for headers in (mine, bearer):
            file.write_text(f"{kept}\n{gone}\n\n")
            wait_for(lambda: monitor.site.access.tokens.find(SECRET), "the token is back")
            monitor.headers = headers
            with monitor.events("/events") as events:
                next(events)
                file.write_text(f"{kept}\n")
                assert all(event.event for event in events)  # the stream ends
            assert monitor.ask("/campaigns", headers=headers).status == 401
        monitor.headers = {}
        assert monitor.ask("/campaigns", headers=other).status == 200


def test_another_monitor_knows_the_session_and_notices_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "ACCESS_SECONDS", 0.05)
    with running(CLOSED) as one, running(CLOSED) as two:
        two.site.monitor.backend.ledger = one.site.monitor.backend.ledger
        found = cookie(session(one))
        assert two.ask("/campaigns", headers=found).status == 200
        one.ask("/session", method="DELETE", headers=found)
        wait_for(lambda: two.ask("/campaigns", headers=found).status == 401, "the other monitor notices")


def test_a_session_ends_with_its_time_and_only_hashes_are_kept() -> None:
    now = [0.0]
    ledger = MemoryLedger(clock=lambda: now[0])
    with running(CLOSED) as monitor:
        monitor.site.monitor.backend.ledger = ledger
        found = session(monitor)
        value = found["judgestream"].value
        assert list(ledger._sessions) == [hash_of_cookie(value)]
        assert value not in str(ledger._sessions)
        assert SECRET not in str(ledger._sessions)
        now[0] = SESSION_SECONDS + 1.0
        assert monitor.ask("/campaigns", headers=cookie(found)).status == 401


def test_a_token_that_may_not_read_opens_no_session() -> None:
    with running(CLOSED) as monitor:
        body = json.dumps({"token": WRITER}).encode()
        answer = monitor.ask("/session", method="POST", body=body, headers=JSON)
        assert (answer.status, answer.json["error"]["reason"]) == (403, "wrong_scope")


@pytest.mark.parametrize("value", ["", "one", "one.99999999999.x", ".", "one.²."])
def test_a_cookie_that_was_made_up_opens_nothing(value: str) -> None:
    with running(CLOSED) as monitor:
        headers = {"Cookie": f"judgestream={value}".encode().decode("latin-1")}
        assert monitor.ask("/campaigns", headers=headers).status == 401


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"token":3}', b"\xff", b"[" * 1000])
def test_a_session_without_a_token_is_refused(body: bytes) -> None:
    with running(CLOSED) as monitor:
        assert monitor.ask("/session", method="POST", body=body, headers=JSON).status == 422


def test_a_session_with_a_wrong_token_is_refused() -> None:
    with running(CLOSED) as monitor:
        assert monitor.ask("/session", method="POST", body=b'{"token":"wrong"}', headers=JSON).status == 401
