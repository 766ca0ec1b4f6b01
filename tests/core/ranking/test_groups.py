"""The group of a judgment or a judge: the same whether few or many are grouped at once."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from streams.core.ranking.grouped_counts import FEW, GROUPS, group_of, groups_of


def test_few_and_many_names_have_the_same_groups() -> None:
    names = [f"name-{number}" for number in range(20 * GROUPS)]
    checksums = np.array([crc32(name.encode()) for name in names], np.int64)
    expected = [group_of(name) for name in names]
    assert groups_of(checksums).tolist() == expected
    assert [group for k in range(0, len(names), FEW - 1) for group in groups_of(checksums[k : k + FEW - 1])] == expected
    assert set(expected) == set(range(GROUPS))
