"""Column mapping: read any table whose columns are named by the user, and propose a mapping for an unknown table."""
