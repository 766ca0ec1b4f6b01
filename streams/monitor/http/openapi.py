"""The OpenAPI document, generated from the table of routes and the types of the payloads."""

from __future__ import annotations

from http import HTTPStatus
from importlib import metadata
from typing import TYPE_CHECKING, Any

import msgspec

from streams.monitor.http.access import COOKIE
from streams.monitor.http.bodies import NDJSON, RevokeBody
from streams.monitor.http.handlers.session import TokenBody
from streams.monitor.http.matches import HeldMatchBody, NextMatchBody
from streams.monitor.http.responses import JSON, ErrorPayload
from streams.monitor.http.routes import ROUTES
from streams.wire import schemas
from streams.wire.campaign_names import CAMPAIGN_PATTERN
from streams.wire.events import encode
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from streams.monitor.http.routes import Route

Json = dict[str, Any]

REF = "#/components/schemas/{name}"
ERROR = {"$ref": REF.format(name="ErrorPayload")}
JUDGMENT = {"$ref": REF.format(name="Judgment")}
SCOPES_TEXT = "A token has scopes (read, judge, publish, operate) and patterns of campaigns to which they apply."
BODIES = (TokenBody, NextMatchBody, HeldMatchBody, RevokeBody)
OPTIONAL = ("campaign", "at")  # defaults: the path, and the current time


def document() -> bytes:
    """Return the document."""
    kinds = [route.response for route in ROUTES if isinstance(route.response, type)]
    _, components = msgspec.json.schema_components([*kinds, ErrorPayload, *BODIES], ref_template=REF)
    paths: dict[str, Json] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Judgestream monitor",
                "version": metadata.version("judgestream"),
                "description": "Live rankings from human judgments: read campaigns, post judgments, lease matches.",
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "paths": paths,
            "components": {
                "schemas": {**components, "Judgment": _judgment()},
                "securitySchemes": {
                    "token": {"type": "http", "scheme": "bearer", "description": SCOPES_TEXT},
                    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
                },
            },
        }
    )


def _operation(route: Route) -> Json:
    described: Json = {
        "operationId": route.name,
        "summary": (route.handler.__doc__ or "").strip(),
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": _responses(route),
    }
    if route.needs != "open":
        needed = [{"token": [scope]} for scope in route.scopes]
        # Reading needs a token or a session if monitor_reads is closed, and neither if it is open.
        described["security"] = [{}, *needed, {"session": ["read"]}] if route.needs == "read" else needed
        described["description"] = f"Scope of the token: {' or '.join(route.scopes)}."
    if route.body is not None:
        described["requestBody"] = {"required": True, "content": _BODIES[route.body]}
    return described


def _path_parameters(route: Route) -> list[Json]:
    schemas: Json = {
        "campaign": {"type": "string", "maxLength": MAX_NAME, "pattern": CAMPAIGN_PATTERN.replace("(?!\\n)", "")},
        "id": {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
    }
    return [
        {"name": name, "in": "path", "required": True, "schema": schema}
        for name, schema in schemas.items()
        if f"{{{name}}}" in route.path
    ]


def _query_parameters(route: Route) -> list[Json]:
    return [
        {
            "name": query.name,
            "in": "query",
            "required": query.required,
            "description": query.about,
            "schema": query.schema,
        }
        for query in route.query
    ]


def _responses(route: Route) -> dict[str, Json]:
    if route.response is None:
        responses: dict[str, Json] = {"204": {"description": "Done."}}
    else:
        described = "Accepted." if route.success == 202 else "Success."
        responses = {str(route.success): {"description": described, "content": _content(route.response)}}
    also = {*route.errors, *({421, 429, 500} if route.limited else ())}  # probes are not limited
    also |= {401, 403} if route.needs != "open" else set()
    also |= {408, 413, 415} if route.body is not None else set()
    for status in sorted(also):
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "content": {JSON: {"schema": ERROR}}}
    if route.name in ("live", "ready"):
        responses["503"] = {"description": "What is wrong.", "content": _content(route.response or "")}
    return responses


def _content(body: type | str) -> Json:
    if isinstance(body, type):
        return {JSON: {"schema": {"$ref": REF.format(name=body.__name__)}}}
    return {body: {"schema": {"type": "object"} if body == JSON else {"type": "string"}}}


def _judgment() -> Json:
    """Return the schema of a judgment as it may be posted."""
    schema = {name: part for name, part in schemas.schema("Judgment").items() if not name.startswith("$")}
    return schema | {"required": [name for name in schema["required"] if name not in OPTIONAL]}


_MANY: Json = {"type": "array", "items": JUDGMENT, "minItems": 1}
_ENVELOPE: Json = {"type": "object", "properties": {"judgments": _MANY}, "required": ["judgments"]}
_BODIES: dict[str, Json] = {
    "judgments": {
        JSON: {"schema": {"anyOf": [JUDGMENT, _MANY, _ENVELOPE]}},
        NDJSON: {"schema": {"type": "string", "description": "One judgment per line."}},
    },
    "label-studio": {JSON: {"schema": {"type": "object", "description": "The body of a Label Studio webhook."}}},
    "revoke": {JSON: {"schema": {"$ref": REF.format(name="RevokeBody")}}},
    "command": {JSON: {"schema": {"type": "object", "description": "A command, as in docs/events.md."}}},
    "next-match": {JSON: {"schema": {"$ref": REF.format(name="NextMatchBody")}}},
    "held-match": {JSON: {"schema": {"$ref": REF.format(name="HeldMatchBody")}}},
    "token": {JSON: {"schema": {"$ref": REF.format(name="TokenBody")}}},
}
