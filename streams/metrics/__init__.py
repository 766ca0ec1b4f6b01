"""What Prometheus is told: each metric of a worker and of a monitor is declared here, once."""

from streams.metrics.base import Metrics
from streams.metrics.monitor import MonitorMetrics
from streams.metrics.worker import PartitionProgress, WorkerMetrics

__all__ = ["Metrics", "MonitorMetrics", "PartitionProgress", "WorkerMetrics"]
