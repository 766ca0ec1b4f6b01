"""The Kafka adapter: the only package that imports aiokafka."""
