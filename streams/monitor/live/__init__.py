"""Event streams: what changed is encoded once and sent to every listener."""
