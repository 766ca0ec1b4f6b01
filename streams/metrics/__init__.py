"""The Prometheus metrics of the worker and of the monitor. Each is declared here, once."""

from streams.metrics.base import Metrics
from streams.metrics.monitor import MonitorMetrics
from streams.metrics.worker import PartitionProgress, WorkerMetrics

__all__ = ["Metrics", "MonitorMetrics", "PartitionProgress", "WorkerMetrics"]
