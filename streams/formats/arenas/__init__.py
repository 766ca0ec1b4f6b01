"""Layouts of arenas and of data sets of preferences, one family per file."""
