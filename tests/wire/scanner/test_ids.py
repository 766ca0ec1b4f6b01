"""The ids of scanned judgments: copied and summed in one pass, as zlib would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.wire.scanner import kernels

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("kind", [kernels.plain, kernels.compiled])
@given(texts=st.lists(st.binary(min_size=1, max_size=20), max_size=8))
def test_ids_are_copied_with_the_checksums_of_zlib(kind: Callable[[str], Any], texts: list[bytes]) -> None:
    data = np.frombuffer(b"{" + b":".join(texts) + b"}", np.uint8)
    ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)
    begins = ends - np.array([len(text) for text in texts], np.int64)
    copied, checksums = np.zeros(len(data) + 1, np.uint8), np.zeros(len(texts), np.int64)
    size = kind("ids").copy_ids(data, begins, ends, copied, checksums)
    assert copied[:size].tobytes() == b"".join(text + b"\n" for text in texts)
    assert checksums.tolist() == [crc32(text) for text in texts]
