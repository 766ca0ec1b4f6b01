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
from tests.builders import crowd_log
from tests.monitor.site import SECRET, Running, running

DOCUMENT: dict[str, Any] = json.loads(document())
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def filled() -> Iterator[Running]:
    with running() as found:
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


@schemathesis.serializer("application/x-ndjson")
def in_lines(_: object, value: object) -> bytes:
    return value.encode(errors="replace") if isinstance(value, str) else json.dumps(value).encode()


# An event stream has no end to wait for; the tests of the streams read them.
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT).exclude(
    path=[route.path for route in ROUTES if route.response == EVENTS]
)


@pytest.mark.long
@SCHEMA.parametrize()
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_whatever_is_asked_the_answer_is_as_described(case: schemathesis.Case[Any], filled: Running) -> None:
    headers = {"Authorization": f"Bearer {SECRET}"}
    case.validate_response(case.call(base_url=filled.url, headers=headers), checks=CHECKS)
    if case.path_parameters and case.operation.method == "get":
        case.path_parameters["campaign"] = "campaign-0"
        case.validate_response(case.call(base_url=filled.url, headers=headers), checks=CHECKS)
