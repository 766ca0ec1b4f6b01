"""The monitor: an HTTP server beside the workers with the live page, the intake of judgments and the metrics."""
