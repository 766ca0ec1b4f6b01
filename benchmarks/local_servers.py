"""A real Kafka and Redis for one benchmark, in a temporary folder."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deploy.servers import Servers
from streams.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def local_servers() -> Iterator[Callable[..., Settings]]:
    """Start the servers, and stop them at the end. What is yielded makes the settings of a namespace on them.

    The addresses are also in the environment, for child processes.
    """
    with tempfile.TemporaryDirectory(prefix="judgestream-bench-") as folder:
        servers = Servers(Path(folder))
        try:
            addresses = servers.start()
            os.environ.update(addresses)

            def settings(namespace: str, **more: Any) -> Settings:
                kafka, redis = addresses["JUDGESTREAM_KAFKA"], addresses["JUDGESTREAM_REDIS"]
                return Settings(kafka=kafka, redis=redis, namespace=namespace, **more)

            yield settings
        finally:
            servers.stop()
