"""The OpenAPI document says all that the monitor does, and the monitor does as it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from streams.monitor.http.openapi import document
from streams.monitor.http.routes import ROUTES
from tests.monitor.site import Running

DOCUMENT: dict[str, Any] = json.loads(document())


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
