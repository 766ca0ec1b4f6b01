"""What the monitors of one namespace share: leases of match requests, and the history of ratings."""
