"""The rate over a recent window."""

from __future__ import annotations

import pytest

from streams.reports.rate import WindowedRate


def test_the_rate_covers_the_last_minute_and_starts_again_after_a_retraction() -> None:
    rate = WindowedRate(60.0)
    assert rate.at(0.0) == 0.0
    for second in range(0, 301, 10):
        rate.add(float(second), second * 2)
    assert rate.at(300.0) == pytest.approx(2.0)
    assert rate.at(330.0) == pytest.approx(1.0)
    assert rate.at(1000.0) == 0.0
    rate.add(1000.0, 5)
    assert rate.at(1000.0) == 0.0
