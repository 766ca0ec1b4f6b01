"""Files with the machine code of kernels. Each one carries a checksum of its content."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from streams.files import replacing

if TYPE_CHECKING:
    from pathlib import Path

LAYOUT = b"judgestream kernels 2\n"
_CHECKSUM_BYTES = 32


class BadObjectFile(Exception):  # noqa: N818
    """A file that is not complete, was changed, or was written by another version."""


@dataclass(frozen=True, kw_only=True)
class StoredFunction:
    """One function: its symbol, its signature, and the place of its object code."""

    symbol: str
    signature: str
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True)
class ObjectFile:
    """The functions of one module, the symbols that they import, and their object code."""

    functions: dict[str, StoredFunction]
    imports: list[str]
    code: bytes


def write_object_file(file: Path, content: ObjectFile) -> None:
    """Write a file completely or not at all."""
    functions = {name: asdict(function) for name, function in content.functions.items()}
    head = json.dumps({"functions": functions, "imports": content.imports}).encode()
    body = head + b"\n" + content.code
    with replacing(file) as stream:
        stream.write(LAYOUT + _checksum(body) + body)


def read_object_file(file: Path) -> ObjectFile:
    """Read a file. Raise BadObjectFile if its layout is another one or its checksum is wrong."""
    data = file.read_bytes()
    checksum, body = data[len(LAYOUT) : len(LAYOUT) + _CHECKSUM_BYTES], data[len(LAYOUT) + _CHECKSUM_BYTES :]
    if not data.startswith(LAYOUT):
        raise BadObjectFile(f"{file}: it has another layout")
    if checksum != _checksum(body):
        raise BadObjectFile(f"{file}: its checksum is wrong")
    head, _, code = body.partition(b"\n")
    fields = json.loads(head)
    functions = {name: StoredFunction(**function) for name, function in fields["functions"].items()}
    return ObjectFile(functions=functions, imports=fields["imports"], code=code)


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=_CHECKSUM_BYTES).digest()
