"""A log published into Kafka: records that are there already are left out, the rest is sent and waited for."""
