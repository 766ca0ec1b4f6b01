"""The monitor: a live page, an HTTP door and metrics, beside the workers."""
