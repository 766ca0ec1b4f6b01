"""All scenarios of a model in one mode, as campaigns of one stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from tests.monitor.site import TOKENS
from tests.product.cases import Case
from tests.product.run import Run
from tests.product.scenarios import SCENARIOS
from tests.product.variants import Variant
from tests.reports.campaigns import KeptStore


@dataclass
class Played:
    """A stream, and the campaign of each scenario."""

    variant: Variant
    stream: Embedded
    runs: dict[str, Run]


def play(variant: Variant, scenarios: Iterable[str] = SCENARIOS) -> Played:
    """Run scenarios. A monitor on the stream can be asked for matches."""
    settings = Settings(monitor_tokens=TOKENS, judge_key="a key for tests", snapshot_seconds=3600)
    stream = Embedded(settings, store=KeptStore())
    runs = {name: Run(Case(variant), name=name, stream=stream) for name in scenarios}
    for name, run in runs.items():
        SCENARIOS[name](run)
    return Played(variant, stream, runs)
