"""The Kafka adapter: the only package that imports the clients of Kafka."""
