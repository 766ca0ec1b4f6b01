"""Rankings in a script or a notebook: a log in, as a file, as judgments or as a DataFrame; a ranking out."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, overload

import msgspec

from streams import formats
from streams.errors import FormatError, JudgestreamError, ParameterError, suggestion
from streams.formats.arena import is_battles
from streams.formats.names import ANONYMOUS, UNSPECIFIED
from streams.formats.rankings import row_time
from streams.offline.rating import choose_engine, make_leaderboard, rate, settings_for
from streams.reports import History, Report
from streams.reports.html_page import html_page
from streams.reports.html_table import fragment, leaderboard_table, plain_table
from streams.reports.score_axis import rank_range, score_decimals
from streams.wire.events import Judgment

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from os import PathLike

    from matplotlib.figure import Figure
    from pandas import DataFrame

    from streams.core.campaign.campaign import Campaign
    from streams.formats import OnError, Reading, RowError, Summary
    from streams.wire.events import Leaderboard, Parameter, Row

    Source = str | PathLike[str] | Iterable[Judgment] | DataFrame

BATCH = 1000
SHOWN = 10  # judgments of a log that are shown
_FRAME = "dataframe"  # what messages call it, and the campaign of rows that name none


@dataclass(frozen=True)
class Judgments(Sequence[Judgment]):
    """The judgments of a log, in its order; `summary` says what became of each row."""

    judgments: tuple[Judgment, ...]
    summary: Summary = field(default_factory=formats.Summary)

    def __len__(self) -> int:
        return len(self.judgments)

    @overload
    def __getitem__(self, place: int) -> Judgment: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Judgment]: ...
    def __getitem__(self, place: int | slice) -> Judgment | Sequence[Judgment]:
        return self.judgments[place]

    def __repr__(self) -> str:
        bad = self.summary.skipped.total()
        return f"<{len(self):,} judgments{f', {bad:,} bad rows left out' if bad else ''}>"

    def _repr_html_(self) -> str:
        columns = ("campaign", "segment", "judge", "systems", "ranks", "score")
        rows = (
            ("" if (value := getattr(each, name)) is None else value for name in columns)
            for each in self.judgments[:SHOWN]
        )
        more = f"<p>... {len(self) - SHOWN:,} more</p>" if len(self) > SHOWN else ""
        return fragment([plain_table(columns, [[_joined(cell) for cell in row] for row in rows]), more])

    def to_pandas(self) -> DataFrame:
        """Give a DataFrame with the fields of a judgment as columns; it needs the extra `pandas`."""
        return _frame([msgspec.structs.asdict(each) for each in self.judgments], Judgment.__struct_fields__)


@dataclass(frozen=True)
class Ranking:
    """The leaderboards of a log, a campaign each; `ranking["wmt13.fr-en"]` is one of them alone.

    Of the judgments `read`, those that stood there twice counted once, and those `rejected` not at all.
    """

    reports: tuple[Report, ...]
    read: int = 0
    duplicates: int = 0
    rejected: int = 0
    first_rejection: str = ""

    @classmethod
    def of(cls, campaign: Campaign) -> Ranking:
        """Rank a campaign as it stands.

        >>> from streams.core.campaign.campaign import Campaign
        >>> Ranking.of(Campaign("c"))
        <Ranking c: trueskill, 0 judgments, 0 clusters>
        """
        report = Report(leaderboard=campaign.leaderboard(), counts=campaign.tables.pair_counts())
        return cls((report,), read=campaign.counts.records)

    @property
    def leaderboards(self) -> tuple[Leaderboard, ...]:
        """Give the leaderboards, in order of name."""
        return tuple(report.leaderboard for report in self.reports)

    @property
    def campaigns(self) -> tuple[str, ...]:
        """Name the campaigns."""
        return tuple(found.campaign for found in self.leaderboards)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Give the rows of the one leaderboard that it holds."""
        return self._only().leaderboard.rows

    def __getitem__(self, campaign: str) -> Ranking:
        for report in self.reports:
            if report.leaderboard.campaign == campaign:
                return Ranking((report,))
        raise ParameterError(f"no campaign {campaign!r} in the ranking; {suggestion(campaign, self.campaigns)}")

    def __repr__(self) -> str:
        told = "; ".join(f"{report.leaderboard.campaign}: {report.about}" for report in self.reports)
        return f"<Ranking {told}{self._left_out()}>"

    def __str__(self) -> str:
        blocks = []
        for report in self.reports:
            rows = report.leaderboard.rows
            width, decimals = max((len(row.system) for row in rows), default=0), score_decimals(rows)
            lines = [
                f"{row.rank:>4}  {rank_range(row.rank_low, row.rank_high):<7}  {row.system:<{width}}  "
                f"{row.score:+.{decimals}f} ± {row.deviation:.{decimals}f}"
                for row in rows
            ]
            blocks.append("\n".join([f"{report.leaderboard.campaign}  {report.about}", *lines]))
        return "\n\n".join(blocks) + self._left_out()

    def _repr_html_(self) -> str:
        blocks = [
            f"<p><b>{report.leaderboard.campaign}</b>&ensp;{report.about}</p>{leaderboard_table(report.leaderboard)}"
            for report in self.reports
        ]
        left_out = self._left_out().removeprefix("; ")
        return fragment([*blocks, f"<p>{escape(left_out)}</p>"] if left_out else blocks)

    def to_pandas(self) -> DataFrame:
        """Give a DataFrame with a row a system, all campaigns; it needs the extra `pandas`."""
        return _frame(
            [
                {"campaign": found.campaign, "model": found.model, **msgspec.structs.asdict(row)}
                for found in self.leaderboards
                for row in found.rows
            ]
        )

    def pairs_to_pandas(self) -> DataFrame:
        """Give a DataFrame with a row for each two systems that met; it needs the extra `pandas`."""
        return _frame(
            [
                {"campaign": report.leaderboard.campaign, **msgspec.structs.asdict(pair)}
                for report in self.reports
                for pair in report.pairs()
            ]
        )

    def to_html(self) -> str:
        """Give one HTML page that needs nothing else."""
        return html_page(self.reports)

    def plot(self) -> Figure:
        """Draw rank ranges, head to head and ratings over time of one campaign; it needs the extra `plot`."""
        from streams.reports.plots import ranking_figure

        return ranking_figure(self._only())

    def _only(self) -> Report:
        if len(self.reports) == 1:
            return self.reports[0]
        raise ParameterError(f"there are {len(self.reports)} campaigns; take one: ranking[{self.campaigns[0]!r}]")

    def _left_out(self) -> str:
        told = f"; {self.duplicates:,} stand there twice, and count once" if self.duplicates else ""
        if self.rejected:
            told += f"; {self.rejected:,} of {self.read:,} rejected, the first: {self.first_rejection}"
        return told


def read(
    source: str | PathLike[str] | DataFrame,
    *,
    format: str | None = None,  # noqa: A002 - as in streams.formats
    campaign: str | None = None,
    on_error: OnError | Callable[[RowError], None] = "stop",
    shared_ties: bool = True,
) -> Judgments:
    """Read a log into memory: a file in any format that is known, or a DataFrame.

    A DataFrame has the columns model_a, model_b and winner of an arena, or those of a judgment, of which only systems
    and ranks, or score, are needed. `campaign` names the campaign, whatever the log calls it.
    """
    reading = _reading(source, format=format, campaign=campaign, on_error=on_error, shared_ties=shared_ties)
    judgments = tuple(judgment for batch in reading.batches() for judgment in batch.judgments)
    return Judgments(judgments, reading.summary)


def rank(
    source: Source,
    *,
    model: str = "trueskill",
    ranges: str | None = None,
    parameters: Mapping[str, Parameter] | None = None,
    campaigns: Collection[str] = (),
    runs: int = 1000,
    seed: int = 1,
    threads: int = 1,
) -> Ranking:
    """Rank the systems of a log: a file, judgments, or a DataFrame as `read` takes it.

    The models and ranges are those of `judgestream rank`; `campaigns` chooses some of the log's.

    >>> from streams.wire.events import EPOCH
    >>> verdicts = [Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(2, 1), at=EPOCH)]
    >>> [row.system for row in rank(verdicts).rows]
    ['b', 'a']
    """
    engine = choose_engine(model, ranges)
    histories: dict[str, History] = {}
    rated = rate(
        _batches(source),
        settings_for(model, engine, parameters),
        only=campaigns,
        observe=lambda campaign: histories.setdefault(campaign.name, History()).observe(campaign),
    )
    if not rated.read:
        raise FormatError(f"{_name(source)}: there is no judgment in it")
    found = [rated.campaigns[name] for name in sorted(rated.campaigns)]
    reports = tuple(
        Report(
            leaderboard=make_leaderboard(campaign, model=model, engine=engine, runs=runs, seed=seed, threads=threads),
            counts=campaign.tables.pair_counts(),
            history=histories[campaign.name],
        )
        for campaign in found
    )
    return Ranking(
        reports,
        read=rated.read,
        duplicates=sum(campaign.counts.duplicates for campaign in found),
        rejected=rated.rejections,
        first_rejection=str(rated.first_rejection or ""),
    )


def _batches(source: Source) -> Iterator[Sequence[Judgment]]:
    if isinstance(source, str | Path) or hasattr(source, "__fspath__") or _is_frame(source):
        yield from (batch.judgments for batch in _reading(source).batches())
        return
    judgments = iter(source)
    while batch := list(islice(judgments, BATCH)):
        yield batch


def _reading(source: Any, **options: Any) -> Reading:
    if not _is_frame(source):
        return formats.read(Path(source), **options)
    columns = [str(column) for column in source.columns]
    if is_battles(columns):
        options["format"] = "arena"
    elif "systems" in columns and ("ranks" in columns or "score" in columns):
        options["format"] = "jsonl"
    else:
        raise FormatError(
            "a DataFrame needs the columns model_a, model_b and winner of an arena, or systems and ranks (or score) "
            f"of a judgment; it has {', '.join(columns)[:200]}"
        )
    stream = io.BytesIO(b"".join(_lines(source, whole=options["format"] == "jsonl")))
    stream.name = _FRAME  # as a file has one
    return formats.read(stream, **options)


def _lines(frame: DataFrame, *, whole: bool) -> Iterator[bytes]:
    """Write each row as a line of JSON, without what is missing; a judgment's row with all that it needs."""
    known = frame.astype(object).where(frame.notna(), None)
    encoder = msgspec.json.Encoder(enc_hook=lambda value: value.tolist())  # numpy's numbers and arrays
    for number, row in enumerate(known.to_dict("records"), start=1):
        cells = {str(name): _timed(value) for name, value in row.items() if value is not None}
        if whole:
            given = {"id": str(number), "campaign": _FRAME, "segment": UNSPECIFIED, "judge": ANONYMOUS, "version": "1"}
            names = Judgment.__struct_fields__
            cells = given | {"at": row_time(number)} | {name: cells[name] for name in names if name in cells}
            cells |= {name: str(cells[name]) for name in ("id", "segment", "judge")}
        yield encoder.encode(cells) + b"\n"


def _timed(value: object) -> object:
    """Write a time with its zone, which is UTC if it names none; whole numbers as such."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_frame(source: object) -> TypeGuard[DataFrame]:
    """Say whether it is a DataFrame; who has one has imported pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def _frame(rows: list[dict[str, Any]], columns: Sequence[str] | None = None) -> DataFrame:
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise JudgestreamError("a DataFrame needs pandas: pip install 'judgestream[pandas]'") from None
    found: DataFrame = pandas.DataFrame(rows, columns=columns)
    return found


def _name(source: object) -> str:
    return str(source) if isinstance(source, str | Path) else _FRAME if _is_frame(source) else "the judgments"


def _joined(cell: object) -> str:
    return " | ".join(map(str, cell)) if isinstance(cell, tuple) else str(cell)
