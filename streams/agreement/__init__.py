"""Compute how much the judges of a log agree, and compare its systems head to head."""
