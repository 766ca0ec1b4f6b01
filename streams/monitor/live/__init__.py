"""Event streams: each change is encoded once and sent to every listener."""
