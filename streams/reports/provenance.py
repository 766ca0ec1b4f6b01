"""Where a page comes from: the file, the time, the options and the version of the program."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What a reader needs to make a page again."""

    file: str
    at: datetime
    options: str  # of the command line
    version: str

    def as_html(self) -> str:
        """Return one line of HTML.

        >>> from datetime import UTC, datetime
        >>> Provenance(file="a.csv", at=datetime(2024, 5, 1, 9, 30, tzinfo=UTC), options="", version="1.0").as_html()
        'a.csv, 2024-05-01 09:30 UTC, default options, Judgestream 1.0'
        """
        options = f"<code>{escape(self.options)}</code>" if self.options else "default options"
        return f"{escape(self.file)}, {self.at:%Y-%m-%d %H:%M} UTC, {options}, Judgestream {escape(self.version)}"
