"""Where the monitor reads and publishes: Kafka and Redis, an embedded stream, or the demo."""
