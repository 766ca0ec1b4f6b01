"""The worker: Kafka, Faust and Redis around the processor."""
