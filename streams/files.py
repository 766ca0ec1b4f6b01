"""Write a file completely or not at all."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from streams.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def explaining_errors(file: Path) -> Iterator[None]:
    """Turn an error of the operating system into one that names the file."""
    try:
        yield
    except OSError as error:
        raise FormatError(f"{file}: can't be written: {error.strerror or error}") from None


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """Open a new file, which replaces `file` if the block ends without an error."""
    part = file.with_name(f".{file.name}.{uuid4().hex[:8]}.part")
    with explaining_errors(file):
        try:
            with part.open("xb") as stream:
                yield stream
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
