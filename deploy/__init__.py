"""Deployment: a local Kafka and Redis without Docker, the Docker image, Kubernetes, Prometheus and Grafana."""
