"""The real way: Kafka, Faust and Redis around the same processor."""
