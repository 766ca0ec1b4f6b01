"""The documents in `schemas/`, generated from the types: a JSON Schema per event, and an AsyncAPI document."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from streams.wire import topics
from streams.wire.events import CampaignStatus, Command, Judgment, Leaderboard, MatchRequest, Rating, Rejection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.wire.topics import Topic

Json = dict[str, Any]

EVENTS: dict[str, Any] = {
    "Judgment": Judgment,
    "Command": Command,
    "Campaign": CampaignStatus,
    "MatchRequest": MatchRequest,
    "Leaderboard": Leaderboard,
    "Rating": Rating,
    "Rejection": Rejection,
}
ASYNCAPI_FILE = "asyncapi.json"

_VERSION = 1
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BINDING_VERSION = "0.5.0"

_COMMAND = "A command of an operator. `action` is its type."
_JUDGMENT = (
    "A ranking has `ranks`: two or more distinct systems, and one rank per system in the same order. Both lists have "
    "the same length, which this schema can not check. A direct assessment has the `score` of one system."
)
# These rules concern several fields. `streams.wire.decoding` checks them after decoding.
_RANKS_OR_SCORE = {
    "oneOf": [
        {
            "title": "Ranking",
            "properties": {
                "systems": {"minItems": 2, "uniqueItems": True},
                "ranks": {"type": "array", "minItems": 2},
                "score": {"type": "null"},
            },
            "required": ["ranks"],
        },
        {
            "title": "Direct assessment",
            "properties": {"systems": {"maxItems": 1}, "ranks": {"type": "null"}, "score": {"type": "number"}},
            "required": ["score"],
        },
    ]
}

_RECEIVED = (topics.JUDGMENTS, topics.COMMANDS)


def files() -> dict[str, str]:
    """Return the text of every generated file, by its path under `schemas/`.

    >>> sorted(files())[:3]
    ['asyncapi.json', 'campaign.v1.json', 'command.v1.json']
    """
    documents = {file_of(event): schema(event) for event in EVENTS} | {ASYNCAPI_FILE: asyncapi()}
    return {name: json.dumps(document, indent=2, ensure_ascii=False) + "\n" for name, document in documents.items()}


def file_of(event: str) -> str:
    """Return the name of the schema file of an event.

    >>> file_of("MatchRequest")
    'match-request.v1.json'
    """
    return f"{_slug(event)}.v{_VERSION}.json"


def schema(event: str) -> Json:
    """Return the JSON Schema of an event, with the rules that its type can not express."""
    kind = EVENTS[event]
    _, parts = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}", schema_hook=_anything)
    parts = {name: part | {"description": _prose(part["description"])} for name, part in sorted(parts.items())}
    if kind is Command:
        # `action` is required, so one branch matches. A `discriminator` differs between AsyncAPI and OpenAPI.
        branches = [{"$ref": f"#/$defs/{action.__name__}"} for action in get_args(Command)]
        body: Json = {"title": event, "description": _COMMAND, "oneOf": branches}
    else:
        body = parts.pop(kind.__name__) | {"title": event}
    if kind is Judgment:
        body = body | {"description": f"{body['description']} {_JUDGMENT}"} | _RANKS_OR_SCORE
    head = {"$schema": _DIALECT, "$id": f"judgestream:{_slug(event)}:v{_VERSION}"}
    return head | body | ({"$defs": parts} if parts else {})


def asyncapi() -> Json:
    """Return the AsyncAPI document: all topics, their events, and whether Judgestream reads or writes them."""
    sent = [topic for topic in topics.TOPICS if topic not in _RECEIVED]
    accepted = _operation("send", topics.JUDGMENTS, ["Command"], about="Accepted commands, appended to the log.")
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Judgestream",
            "version": str(_VERSION),
            "description": (
                "Live rankings from a stream of human judgments. "
                "If a namespace is set, every address starts with it and a dot."
            ),
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {_id(topic): _channel(topic) for topic in topics.TOPICS},
        "operations": {
            **{f"receive-{_id(topic)}": _operation("receive", topic, _carried(topic)) for topic in _RECEIVED},
            "send-accepted-commands": accepted,
            **{f"send-{_id(topic)}": _operation("send", topic, _carried(topic)) for topic in sent},
        },
        "components": {
            "messages": {event: _message(event, topic) for topic in topics.TOPICS for event in _carried(topic)}
        },
    }


def _channel(topic: Topic) -> Json:
    configuration = {
        name: value.split(",") if name == "cleanup.policy" else _number_or_text(value)
        for name, value in topic.config.items()
    }
    return {
        "address": topic.name,
        "description": topic.about,
        "messages": {event: {"$ref": f"#/components/messages/{event}"} for event in _carried(topic)},
        "bindings": {"kafka": {"topicConfiguration": configuration, "bindingVersion": _BINDING_VERSION}},
    }


def _number_or_text(value: str) -> int | str:
    return int(value) if value.lstrip("-").isdigit() else value


def _operation(action: str, topic: Topic, events: Iterable[str], *, about: str | None = None) -> Json:
    channel = f"#/channels/{_id(topic)}"
    return {
        "action": action,
        "channel": {"$ref": channel},
        "summary": about or topic.about,
        "messages": [{"$ref": f"{channel}/messages/{event}"} for event in events],
    }


def _message(event: str, topic: Topic) -> Json:
    return {
        "name": event,
        "contentType": "application/json",
        "payload": {"$ref": f"./{file_of(event)}"},
        "bindings": {"kafka": {"key": _key(topic), "bindingVersion": _BINDING_VERSION}},
    }


def _key(topic: Topic) -> Json:
    keys: dict[str, Json] = {
        topics.JUDGMENTS.key: schema("Judgment")["properties"]["campaign"],
        topics.LEADERBOARDS.key: {
            "type": "string",
            "pattern": "^[^/]+(/[^=]+=|$)",
            "description": "The campaign. Of a category, also a slash, the tag, an equals sign and the value.",
        },
        topics.RATINGS.key: {
            "description": "The campaign, a slash and the system.",
            "type": "string",
            "pattern": "^[^/]+/",
        },
        topics.REJECTED.key: {"description": "The key of the rejected record, if it had one."},
    }
    return keys[topic.key]


def _carried(topic: Topic) -> list[str]:
    commands = get_args(Command)
    names = {kind: name for name, kind in EVENTS.items()}
    return list(dict.fromkeys("Command" if kind in commands else names[kind] for kind in topic.events))


def _id(topic: Topic) -> str:
    return topic.name.removesuffix(f".v{_VERSION}")


def _slug(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", event).lower()


def _prose(docstring: str) -> str:
    """Return a docstring without its example and line breaks."""
    return " ".join(docstring.partition(">>>")[0].split())


def _anything(kind: type) -> Json:
    if kind is object:
        return {"description": "Any value."}  # an empty schema is refused
    raise NotImplementedError(kind)


def main(argv: Sequence[str]) -> None:
    """Write all files into a directory."""
    parser = argparse.ArgumentParser(prog="python -m streams.wire.schemas", description="Write the wire contracts.")
    parser.add_argument("directory", type=Path, help="directory of the files, e.g. schemas/")
    directory = parser.parse_args(argv).directory
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (directory / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
