"""Layouts of annotation platforms, one per file."""
