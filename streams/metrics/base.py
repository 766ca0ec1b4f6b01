"""What the metrics of a worker and of a monitor share: a registry, and the metrics of the build and the process."""

from __future__ import annotations

import platform
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder

if TYPE_CHECKING:
    from collections.abc import Callable

NAMESPACE = "judgestream"
# From a millisecond, which a small batch takes, to half a minute, which only happens if a server does not answer.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# prometheus_client would add a second series per counter with its creation time, which nobody uses.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """The metrics of one part, named `judgestream_<part>_...`, in a registry of their own.

    So a worker and a monitor may run in one process.
    """

    def __init__(self, part: str) -> None:
        self.registry = CollectorRegistry()
        names: dict[str, Any] = {"namespace": NAMESPACE, "subsystem": part, "registry": self.registry}
        self._counter: Callable[..., Counter] = partial(Counter, **names)
        self._gauge: Callable[..., Gauge] = partial(Gauge, **names)
        self._histogram: Callable[..., Histogram] = partial(Histogram, **names)
        ProcessCollector(registry=self.registry)
        build = Info("build", "The version that runs.", namespace=NAMESPACE, registry=self.registry)
        build.info({"version": version("judgestream"), "python": platform.python_version()})

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """Return all values in the format that an Accept header asks for, and their Content-Type."""
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type
