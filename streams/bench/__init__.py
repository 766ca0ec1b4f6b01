"""Benchmarks: how they measure, what their results look like, and those that need no server.

The scripts in `benchmarks/` of the repository measure with the same code.
"""
