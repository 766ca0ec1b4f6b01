"""The AsyncAPI document tells what streams.wire.topics tells, and nothing in it dangles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from streams.wire import schemas, topics
from streams.wire.events import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.wire.topics import Topic

SCHEMAS = Path(__file__).parents[2] / "schemas"
DOCUMENTS: dict[str, Any] = {path.name: json.loads(path.read_bytes()) for path in SCHEMAS.glob("*.json")}
ASYNCAPI = DOCUMENTS[schemas.ASYNCAPI_FILE]

each_topic = pytest.mark.parametrize("topic", topics.TOPICS, ids=lambda topic: topic.name)


def resolved(reference: str, document: str) -> Any:
    file, _, pointer = reference.partition("#")
    node = DOCUMENTS[file.removeprefix("./") or document]
    for step in pointer.split("/")[1:]:
        node = node[step]
    return node


def channel_of(topic: Topic) -> tuple[str, dict[str, Any]]:
    channels: dict[str, dict[str, Any]] = ASYNCAPI["channels"]
    (found,) = [item for item in channels.items() if item[1]["address"] == topic.name]
    return found


def operations_of(topic: Topic) -> dict[str, set[str]]:
    """Give the names of the messages of a topic's operations, by action."""
    reference = f"#/channels/{channel_of(topic)[0]}"
    found: dict[str, set[str]] = {}
    for operation in ASYNCAPI["operations"].values():
        if operation["channel"]["$ref"] == reference:
            assert operation["action"] not in found
            assert all(message["$ref"].startswith(f"{reference}/messages/") for message in operation["messages"])
            found[operation["action"]] = {message["$ref"].rpartition("/")[2] for message in operation["messages"]}
    return found


def events_of(topic: Topic) -> set[str]:
    return {"Command" if kind in get_args(Command) else kind.__name__.removesuffix("Status") for kind in topic.events}


def references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for name, child in node.items():
            if name == "$ref":
                yield child
            else:
                yield from references(child)
    elif isinstance(node, list):
        for child in node:
            yield from references(child)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_reference_resolves(name: str) -> None:
    for reference in references(DOCUMENTS[name]):
        assert isinstance(resolved(reference, name), dict), reference


def test_it_says_what_it_is() -> None:
    assert ASYNCAPI["asyncapi"] == "3.0.0"
    assert ASYNCAPI["info"]["title"] == "Judgestream"
    assert ASYNCAPI["info"]["version"] == "1"
    assert ASYNCAPI["info"]["license"] == {"name": "Apache-2.0"}
    assert ASYNCAPI["defaultContentType"] == "application/json"


def test_there_is_one_channel_a_topic() -> None:
    addresses = [channel["address"] for channel in ASYNCAPI["channels"].values()]
    assert sorted(addresses) == sorted(topic.name for topic in topics.TOPICS)


@each_topic
def test_a_channel_carries_the_events_of_its_topic(topic: Topic) -> None:
    _, channel = channel_of(topic)
    assert channel["description"] == topic.about
    messages = {name: resolved(message["$ref"], schemas.ASYNCAPI_FILE) for name, message in channel["messages"].items()}
    assert messages.keys() == events_of(topic)
    for name, message in messages.items():
        payload = resolved(message["payload"]["$ref"], schemas.ASYNCAPI_FILE)
        assert (payload["title"], payload["$id"]) == (name, schemas.schema(name)["$id"])


@each_topic
def test_a_channel_is_configured_as_its_topic(topic: Topic) -> None:
    kafka = channel_of(topic)[1]["bindings"]["kafka"]
    assert kafka.keys() == {"topicConfiguration", "bindingVersion"}, "partitions and replicas are the operator's"
    configuration = kafka["topicConfiguration"]
    assert isinstance(configuration["cleanup.policy"], list)
    values = {name: value for name, value in configuration.items() if name != "cleanup.policy"}
    assert all(type(value) is int for name, value in values.items() if name != "message.timestamp.type")
    told = {name: str(value) for name, value in values.items()}
    assert told | {"cleanup.policy": ",".join(configuration["cleanup.policy"])} == topic.config


@each_topic
def test_the_keys_of_a_channel_are_those_of_its_topic(topic: Topic) -> None:
    for message in channel_of(topic)[1]["messages"].values():
        key = Draft202012Validator(resolved(message["$ref"], schemas.ASYNCAPI_FILE)["bindings"]["kafka"]["key"])
        assert key.is_valid("wmt13.fr-en/uedin") is (topic in (topics.RATINGS, topics.REJECTED))
        assert key.is_valid("wmt13.fr-en/language=de") is (topic.key != "campaign")
        assert key.is_valid("wmt13.fr-en") is (topic is not topics.RATINGS)
        assert key.is_valid(None) is (topic is topics.REJECTED), "a rejected record may have had no key"


@each_topic
def test_the_operations_say_who_writes_a_topic(topic: Topic) -> None:
    carried = events_of(topic)
    if topic is topics.JUDGMENTS:
        assert operations_of(topic) == {"receive": carried, "send": {"Command"}}
    elif topic is topics.COMMANDS:
        assert operations_of(topic) == {"receive": carried}
    else:
        assert operations_of(topic) == {"send": carried}


def test_the_schemas_mean_the_same_in_the_draft_that_asyncapi_reads() -> None:
    examples = SCHEMAS / "examples"
    index = json.loads((examples / "index.json").read_bytes())
    for folder, entries in index.items():
        for name, entry in entries.items():
            if folder == "valid" or entry["schema_refuses"] is not None:
                schema, value = schemas.schema(entry["event"]), json.loads((examples / folder / name).read_bytes())
                newest = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
                older = Draft7Validator(schema, format_checker=Draft7Validator.FORMAT_CHECKER)
                assert older.is_valid(value) is newest.is_valid(value), name
