"""`judgestream token`: a secret for the client, and an entry that the monitor takes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from streams.cli.main import cli
from streams.monitor.http.tokens import hash_of, parse_tokens

SECRET = "a-secret-that-clients-have"


def test_the_entry_is_for_the_secret_that_is_shown() -> None:
    words = ["token", "platform", "--scope", "publish", "--scope", "judge", "--campaign", "wmt26.*", "--json"]
    made = [json.loads(CliRunner().invoke(cli, words).stdout) for _ in range(2)]
    (token,) = parse_tokens(made[0]["entry"]).values()
    assert (token.name, token.scopes, token.campaigns) == ("platform", frozenset({"publish", "judge"}), ("wmt26.*",))
    assert token.hash == hash_of(made[0]["secret"])
    assert made[0]["secret"] not in made[0]["entry"]
    assert made[0]["secret"] != made[1]["secret"]


def test_without_json_the_secret_and_the_entry_are_explained() -> None:
    text = CliRunner().invoke(cli, ["token", "dashboard", "--scope", "read"]).stdout
    assert "not shown again" in text
    assert "dashboard:read:*:sha256-" in text


def test_a_secret_that_exists_is_read_and_not_shown() -> None:
    found = CliRunner().invoke(cli, ["token", "platform", "--scope", "publish", "--secret", "-"], input=f"{SECRET}\n")
    assert found.exit_code == 0
    assert hash_of(SECRET) in found.stdout
    assert SECRET not in found.stdout


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["a b", "--scope", "read"], "letters, digits"),
        (["a", "--scope", "read", "--campaign", "a/b"], "patterns such as"),
        (["a", "--scope", "read", "--secret", SECRET], "takes only -"),
        (["a"], "--scope"),
    ],
)
def test_wrong_use_is_explained(words: list[str], text: str) -> None:
    found = CliRunner().invoke(cli, ["token", *words])
    assert found.exit_code == 2
    assert text in found.stderr
    assert SECRET not in found.stderr
