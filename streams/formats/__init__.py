"""Judgment logs as people have them, read into judgments."""
