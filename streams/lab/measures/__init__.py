"""Measures of predictions, rankings and scores."""
