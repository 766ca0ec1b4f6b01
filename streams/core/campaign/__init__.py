"""One campaign and everything that only it touches."""
