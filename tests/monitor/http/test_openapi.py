"""The OpenAPI document says all that the monitor does, and the monitor does as it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from jsonschema import Draft202012Validator
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

DOCUMENT: dict[str, Any] = json.loads(document())
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


def test_every_route_is_described_and_nothing_else(monitor: Running) -> None:
    app = monitor.site.app()
    routes = {
        (route.method, route.resource.canonical)
        for route in app.router.routes()
        if route.resource is not None and route.resource.canonical != "/static"
    }
    described = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert described == {(method, path) for method, path in routes if method != "HEAD"}


def test_the_document_is_served_and_every_schema_in_it_is_one(monitor: Running) -> None:
    assert monitor.get("/openapi.json") == DOCUMENT
    assert DOCUMENT["openapi"].startswith("3.1")
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_leads_somewhere() -> None:
    def references(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            for name, value in node.items():
                if name == "$ref":
                    yield value
                else:
                    yield from references(value)
        elif isinstance(node, list):
            for item in node:
                yield from references(item)

    names = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert set(references(DOCUMENT)) <= names


def test_every_route_names_the_scopes_that_open_it() -> None:
    named = {
        operation["operationId"]: {scope for way in operation.get("security", []) for scope in way.get("token", [])}
        for methods in DOCUMENT["paths"].values()
        for operation in methods.values()
    }
    assert named["post_judgments"] == {"publish", "judge"}
    assert named["post_label_studio"] == {"publish"}
    assert named["next_match"] == {"judge"}
    assert named["leaderboard"] == {"read"}
    assert named["live"] == named["open_session"] == set()
    assert {name for route in ROUTES if route.needs == "open" for name in [route.name]} == {
        name for name, scopes in named.items() if not scopes
    }


@schemathesis.serializer("application/x-ndjson")
def in_lines(_: object, value: object) -> bytes:
    return value.encode(errors="replace") if isinstance(value, str) else json.dumps(value).encode()


# An event stream has no end to wait for; the tests of the streams read them.
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT).exclude(
    path=[route.path for route in ROUTES if route.response == EVENTS]
)


@pytest.mark.long
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
