"""Rankings for people: HTML pages, tables, figures, and views of a campaign as rows."""

from streams.reports.report import History, PairView, Report, short_names

__all__ = ["History", "PairView", "Report", "short_names"]
