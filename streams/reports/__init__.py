"""Rankings to keep and to show: pages, tables and figures, from values alone."""

from streams.reports.report import History, PairView, Report, short_names

__all__ = ["History", "PairView", "Report", "short_names"]
