"""Whatever is asked, the monitor answers as its OpenAPI document says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from streams.monitor.http.openapi import document
from streams.monitor.http.routes import EVENTS, ROUTES
from streams.monitor.http.tokens import SCOPES, entry_of
from streams.settings import Settings
from tests.builders import crowd_log
from tests.monitor.site import SECRET, TOKENS, Running, running

pytestmark = pytest.mark.long

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


SECRETS: dict[str, str] = {scope: f"{scope:->20}" for scope in SCOPES}
ENTRIES = [entry_of(scope, secret, scopes=[scope]) for scope, secret in SECRETS.items()]
SCOPED = Settings(
    monitor_tokens=",".join([TOKENS, *ENTRIES]),
    monitor_reads="closed",
    judge_key="a key for tests",
    snapshot_seconds=0.1,
)
HOLDERS: dict[str, str | None] = {"everything": SECRET, **SECRETS, "nothing": None}


@pytest.fixture(scope="module")
def filled() -> Iterator[Running]:
    with running(SCOPED) as found:
        found.site.guard.mistakes.add = lambda *_: 0.0  # type: ignore[method-assign]  # made-up tokens do not wait
        found.publish(*crowd_log(60))
        yield found


@schemathesis.serializer("application/x-ndjson")
def in_lines(_: object, value: object) -> bytes:
    return value.encode(errors="replace") if isinstance(value, str) else json.dumps(value).encode()


# An event stream has no end to wait for; the tests of the streams read them.
SCHEMA = schemathesis.openapi.from_dict(json.loads(document())).exclude(
    path=[route.path for route in ROUTES if route.response == EVENTS]
)


@pytest.mark.parametrize("holder", HOLDERS)
@SCHEMA.parametrize()
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_whatever_is_asked_the_answer_is_as_described(
    case: schemathesis.Case[Any], filled: Running, holder: str
) -> None:
    secret = HOLDERS[holder]
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    case.validate_response(case.call(base_url=filled.url, headers=headers), checks=CHECKS)
    if case.path_parameters and case.operation.method == "get":
        case.path_parameters["campaign"] = "campaign-0"
        case.validate_response(case.call(base_url=filled.url, headers=headers), checks=CHECKS)
