"""How Judgestream is put on a machine: a real Kafka and Redis by hand, and the image for Docker."""
