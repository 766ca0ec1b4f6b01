"""The quick way from a table to columns of judgments, without an object per row."""
