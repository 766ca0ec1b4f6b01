"""What the monitor knows of each campaign, and what it shows of it."""
