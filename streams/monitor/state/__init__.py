"""What the monitor knows about each campaign, and the payloads made from it."""
