"""The Redis store: the only package, beside the monitor's ledger, that imports redis."""
