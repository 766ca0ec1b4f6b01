"""Tokens: what each may do, how they stand in the settings, and what happens to those who guess."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from streams.errors import SettingError
from streams.monitor.http.addresses import ClientAddresses, network_of
from streams.monitor.http.limits import FREE_MISTAKES, LONGEST_WAIT, MOST_WAITING, Mistakes
from streams.monitor.http.tokens import TokenList, entry_of, hash_of, parse_tokens
from streams.settings import Settings
from tests.builders import NOON, judgment
from tests.monitor.site import JSON, SECRET, Answer, Running, running
from tests.waiting import wait_for

OTHER = "fedcba9876543210"
ALL = {scope: f"{scope:-<20}" for scope in ("read", "judge", "publish", "operate")}
SCOPED = ",".join(entry_of(scope, secret, scopes=[scope], campaigns=["mine.*"]) for scope, secret in ALL.items())
CLOSED = Settings(monitor_tokens=SCOPED, monitor_reads="closed", judge_key="a key for tests")
JUDGMENT = b'{"id":"1","segment":"s","judge":"ann","systems":["a","b"],"ranks":[1,2]%s}'
ANSWER = JUDGMENT % b',"request":"judgments.v1/0/1/0"'


def as_(scope: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {ALL[scope]}"}


def post(monitor: Running, scope: str, campaign: str = "mine.a", body: bytes = JUDGMENT % b"") -> Answer:
    return monitor.ask(f"/campaigns/{campaign}/judgments", method="POST", body=body, headers=JSON | as_(scope))


def test_a_token_may_do_what_its_scope_says_and_nothing_else() -> None:
    with running(CLOSED) as monitor:
        allowed = {scope: post(monitor, scope).status for scope in ALL}
        assert {scope for scope, status in allowed.items() if status < 300} == {"publish"}
        assert {status for scope, status in allowed.items() if scope != "publish"} == {403}
        reading = {scope: monitor.ask("/campaigns/mine.a", headers=as_(scope)).status for scope in ALL}
        assert reading == {"read": 200, "judge": 403, "publish": 403, "operate": 403}
        webhook = b'{"action":"PROJECT_UPDATED"}'
        path = "/campaigns/mine.a/label-studio"
        sent = {s: monitor.ask(path, method="POST", body=webhook, headers=JSON | as_(s)).status for s in ALL}
        assert {scope for scope, status in sent.items() if status != 403} == {"publish"}


@pytest.mark.parametrize(
    ("method", "path", "scopes"),
    [
        ("POST", "next-match", {"judge"}),
        ("POST", "matches/return", {"judge"}),
        ("POST", "matches/skip", {"judge"}),
        ("POST", "commands", {"operate"}),
        ("GET", "judgments/1", {"read", "judge", "publish", "operate"}),
        ("GET", "commands/1", {"read", "judge", "publish", "operate"}),
        ("GET", "rejections?judgment=1", {"read"}),
    ],
)
def test_matches_commands_and_outcomes_need_their_scopes(method: str, path: str, scopes: set[str]) -> None:
    with running(CLOSED) as monitor:
        for scope in ALL:
            place = f"/campaigns/mine.a/{path}"
            answer = monitor.ask(place, method=method, body=b"{}", headers=JSON | as_(scope))
            assert (answer.status != 403) == (scope in scopes), (scope, answer)


def test_a_judge_s_token_posts_answers_to_match_requests_only() -> None:
    with running(CLOSED) as monitor:
        post(monitor, "publish")
        refused = post(monitor, "judge")
        assert refused.status == 403
        assert refused.json["error"]["field"] == "judgments[0].request"
        assert "publish" in refused.json["error"]["message"]
        assert post(monitor, "judge", body=ANSWER).status < 300
        mixed = b"[%s,%s]" % (ANSWER, JUDGMENT % b"")
        assert post(monitor, "judge", body=mixed).json["error"]["field"] == "judgments[1].request"


def test_a_refusal_names_what_is_missing_and_not_whether_the_campaign_exists() -> None:
    with running(CLOSED) as monitor:
        monitor.publish(judgment(1, campaign="theirs"))
        refused = [post(monitor, "publish", campaign) for campaign in ("theirs", "nobodys")]
        refused += [monitor.ask(f"/campaigns/{name}", headers=as_("read")) for name in ("theirs", "nobodys")]
        assert {answer.status for answer in refused} == {403}
        assert {answer.json["error"]["reason"] for answer in refused} == {"wrong_campaign"}
        assert refused[0].body == refused[1].body
        assert refused[2].body == refused[3].body
        assert "mine.*" in refused[0].json["error"]["message"]
        wrong = monitor.ask("/campaigns/mine.a", headers=as_("publish")).json["error"]
        assert wrong["reason"] == "wrong_scope"
        assert "the scope read" in wrong["message"]
        assert "publish" in wrong["message"]


@pytest.mark.long
def test_lists_show_the_campaigns_of_the_token_where_reading_is_closed() -> None:
    with running(CLOSED) as monitor:
        for campaign in ("mine.a", "theirs", "mine.b"):
            monitor.publish(judgment(1, campaign=campaign, at=NOON))
        listed = monitor.ask("/campaigns", headers=as_("read")).json["campaigns"]
        assert {each["campaign"] for each in listed} == {"mine.a", "mine.b"}
        monitor.headers = as_("read")
        with monitor.events("/events") as events:
            seen = {next(events).data["campaign"] for _ in range(2)}
            monitor.publish(judgment(2, campaign="theirs"), judgment(2, campaign="mine.a"))
            changed = next(event for event in events if event.event == "overview" and event.data["judgments"] == 2)
        assert seen == {"mine.a", "mine.b"}
        assert changed.data["campaign"] == "mine.a"


def test_where_reading_is_open_a_token_hides_nothing() -> None:
    with running(Settings(monitor_tokens=SCOPED)) as monitor:
        monitor.publish(judgment(1, campaign="theirs"))
        assert monitor.ask("/campaigns/theirs", headers=as_("judge")).status == 200


def test_a_name_may_have_two_secrets_while_one_replaces_the_other() -> None:
    entries = f"{entry_of('platform', SECRET)}\n{entry_of('platform', OTHER, scopes=['read'])}  # the old one\n"
    tokens = parse_tokens(entries)
    assert [token.name for token in tokens.values()] == ["platform", "platform"]
    assert SECRET not in repr(tokens)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a-secret-without-a-name", "entry 1 must be NAME:SCOPES:CAMPAIGNS:HASH"),
        (f"one:{SECRET}", "judgestream token one --scope publish.*--secret -"),
        (f"a b:{SECRET}", "letters, digits"),
        (f":{SECRET}", "letters, digits"),
        (f"one:read:*:{SECRET}", "'one', must be .* hash of a secret"),
        (f"one:write:*:{hash_of(SECRET)}", "read, judge, publish, operate"),
        (f"one::*:{hash_of(SECRET)}", "read, judge, publish, operate"),
        (f"one:read:a/b:{hash_of(SECRET)}", "patterns such as"),
        (f"one:read::{hash_of(SECRET)}", "patterns such as"),
        (f"one:read:*:{hash_of(SECRET)},two:read:*:{hash_of(SECRET)}", "'one' and 'two' have the same secret"),
    ],
)
def test_entries_that_would_not_do_are_refused_without_showing_them(text: str, words: str) -> None:
    with pytest.raises(SettingError, match=words) as caught:
        parse_tokens(text)
    assert SECRET not in str(caught.value)
    assert "a-secret" not in str(caught.value)


@pytest.mark.parametrize("secret", ["short", "ü" * 20, "0123456789abcde\n"])
def test_a_weak_secret_makes_no_entry(secret: str) -> None:
    with pytest.raises(SettingError, match="at least 16 printable ASCII") as caught:
        entry_of("one", secret)
    assert secret not in str(caught.value)


def test_a_file_of_tokens_is_read_again_when_it_changes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# the platform\n{entry_of('platform', SECRET)}\n")
    tokens = TokenList(f"@{file}")
    assert tokens.find(SECRET)
    file.write_text(f"{entry_of('other', OTHER)}\n\n")
    tokens.refresh()
    assert tokens.find(SECRET) is None
    assert tokens.find(OTHER)
    for broken in (b"other:secret\n", b"\xff\xfe"):
        file.write_bytes(broken)
        tokens.refresh()
        assert tokens.find(OTHER)
    file.unlink()
    for _ in range(3):
        tokens.refresh()
    assert tokens.find(OTHER)
    assert caplog.text.count("the tokens stay as they were") == 3
    assert caplog.text.count("No such file") == 1


def test_a_file_that_is_missing_at_the_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="can't be read: No such file"):
        TokenList(f"@{tmp_path / 'none'}")


# -- guessing ------------------------------------------------------------------------------------------


def test_each_wrong_token_waits_longer_than_the_one_before_and_time_forgives() -> None:
    mistakes = Mistakes()
    waits = [mistakes.add("a", 0.0) for _ in range(40)]
    assert waits[:FREE_MISTAKES] == [0.0] * FREE_MISTAKES
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_WAIT
    assert mistakes.add("b", 0.0) == 0.0
    assert mistakes.add("a", 3600.0) == 0.0
    for number in range(20_000):
        mistakes.add(str(number), 0.0)
    assert len(mistakes._counts) <= 10_000


@pytest.mark.long
@pytest.mark.parametrize("path", ["/campaigns", "/session"])
def test_wrong_tokens_wait_and_a_right_one_from_the_same_address_does_not(path: str) -> None:
    """Hold wrong tokens back, and ask with a right one while they wait."""
    with running(CLOSED) as monitor:
        wrong = {"Authorization": "Bearer wrong"} if path == "/campaigns" else JSON
        body = None if path == "/campaigns" else b'{"token":"wrong"}'
        method = "GET" if body is None else "POST"
        mistakes = monitor.site.guard.mistakes
        for _ in range(30):
            mistakes.add("127.0.0.1", 0.0)
        mistakes.add = lambda *_: 3600.0  # type: ignore[method-assign]
        answers: list[int] = []

        def guess() -> None:
            try:
                answers.append(monitor.ask(path, method=method, body=body, headers=wrong).status)
            except OSError:
                answers.append(0)  # the monitor has stopped

        threads = [threading.Thread(target=guess, daemon=True) for _ in range(MOST_WAITING + 2)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(answers) == 2 and mistakes.waiting.total == MOST_WAITING, "all others wait")
        assert answers == [429, 429]
        assert monitor.ask("/campaigns", headers=as_("read")).status == 200
        assert mistakes.waiting.total == MOST_WAITING


def test_an_ipv6_customer_counts_once_and_a_proxy_names_its_client() -> None:
    assert network_of("2001:db8:1:2:3::4") == network_of("2001:db8:1:2::9")
    assert network_of("2001:db8:1:3::4") != network_of("2001:db8:1:2::4")
    assert network_of("rubbish") == "unknown"
    with pytest.raises(SettingError, match="not an address or a network"):
        ClientAddresses("the-proxy")


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        ("", "192.0.2.1", "127.0.0.1"),
        ("127.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "192.0.2.66, 192.0.2.1", "192.0.2.1"),
        ("127.0.0.1, 10.0.0.0/8", "192.0.2.1, 10.1.2.3", "192.0.2.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "made up", "unknown"),
    ],
)
def test_the_address_of_a_client_is_that_of_the_first_untrusted_sender(
    proxies: str, forwarded: str, address: str
) -> None:
    with running(Settings(monitor_proxies=proxies)) as monitor:
        monitor.ask("/campaigns", headers={"Authorization": "Bearer wrong", "X-Forwarded-For": forwarded})
        assert list(monitor.site.guard.mistakes._counts) == [address]
