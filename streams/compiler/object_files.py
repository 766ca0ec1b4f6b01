"""Files with the machine code of kernels. Each one carries a checksum of its content."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from streams.files import replacing

if TYPE_CHECKING:
    from pathlib import Path

LAYOUT = b"judgestream kernels 3\n"
_CHECKSUM_BYTES = 32


class BadObjectFile(Exception):  # noqa: N818
    """A file that is not complete, was changed, or was written by another version."""


class StoredFunction(Struct, frozen=True, kw_only=True):
    """One function: its symbol, its signature, and the place of its object code."""

    symbol: str
    signature: str
    begin: int
    end: int


class ModuleIndex(Struct, frozen=True, kw_only=True):
    """The functions of one module, and the symbols that they import."""

    functions: dict[str, StoredFunction]
    imports: list[str]


class ObjectFile(ModuleIndex, frozen=True, kw_only=True):
    """The functions of one module, with their object code."""

    code: bytes


def write_object_file(file: Path, content: ObjectFile) -> None:
    """Write a file completely or not at all."""
    index = ModuleIndex(functions=content.functions, imports=content.imports)
    body = msgspec.json.encode(index) + b"\n" + content.code
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
    index = msgspec.json.decode(head, type=ModuleIndex)
    return ObjectFile(functions=index.functions, imports=index.imports, code=code)


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=_CHECKSUM_BYTES).digest()
