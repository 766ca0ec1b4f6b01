"""What the monitor reads from and publishes to: real servers, this process, or the demo."""
