"""The pure heart: arrays and values in, arrays and values out; no clock, no environment, no I/O."""
