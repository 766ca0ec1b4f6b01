"""The pure heart: one campaign, to which its log is applied in order, a batch at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams import events, models, ranking
from streams.commands import obey
from streams.decoding import shown
from streams.errors import RecordError, StoreCorrupt, suggestion
from streams.events import EPOCH, MAX_SYSTEMS, Judgment, Rating
from streams.requests import Requests
from streams.state import LAYOUT, CampaignChange, CampaignMeta, Counts
from streams.tables import CampaignTables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from streams.events import MatchRequest
    from streams.state import Output, StoredCampaign, SystemRow


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a campaign is given from outside; a judgment may open it if `create_unknown`."""

    pseudonyms: Mapping[str, str] | None = None
    seen_ids: int = 100_000
    create_unknown: bool = True
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Applied:
    """What a batch did to a campaign."""

    rejections: tuple[tuple[int, RecordError], ...]  # by offset
    rows: tuple[SystemRow, ...]
    ratings: tuple[Rating, ...]
    requests: tuple[MatchRequest, ...]
    standing: events.Campaign | None  # if it changed


@dataclass
class _Columns:
    """Rankings on their way into arrays."""

    offsets: list[int] = field(default_factory=list)
    systems: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    judges: list[int] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


class Campaign:
    """The state of one campaign: `apply` takes the next records of its log.

    Everything is a function of the log and the options: no clock, no I/O, no randomness but from the seed.

    >>> campaign = Campaign("demo")
    >>> verdict = Judgment(id="1", campaign="demo", segment="s", judge="j", systems=("a", "b"), ranks=(2, 1), at=EPOCH)
    >>> done = campaign.apply([(0, verdict)])
    >>> [row.system for row in campaign.leaderboard().rows]
    ['b', 'a']
    """

    def __init__(
        self, name: str, settings: events.CampaignSettings | None = None, *, options: Options | None = None
    ) -> None:
        self.name = name
        self.offset = -1
        self.clock: datetime = EPOCH  # the latest time that an event of the log names
        self.counts = Counts()
        self.requests = Requests()
        self.tables = CampaignTables()
        self._options = options or Options()
        self._seen: set[str] = set()
        self._seen_order: deque[str] = deque()
        self._seen_new: list[str] = []
        self._persisted = -1
        self.standing = events.Campaign(
            campaign=name,
            state="open",
            settings=settings or events.CampaignSettings(),
            withdrawn=(),
            offset=-1,
        )
        self._take_over(self.standing)

    @property
    def exists(self) -> bool:
        """Say whether a `create` or a judgment has opened the campaign."""
        return self.standing.offset >= 0

    # -- applying the log ------------------------------------------------------------------------------

    def apply(self, batch: Sequence[tuple[int, Judgment | events.Command]], *, origin: str = "log") -> Applied:
        """Apply the next records of the log, (offset, event) in order; `origin` begins the ids of what comes out."""
        before = self.standing
        rejections: list[tuple[int, RecordError]] = []
        columns = _Columns()
        judgments = commands = duplicates = rejected = 0
        for offset, event in batch:
            if offset <= self.offset:
                continue  # applied before a restart
            self.offset = offset
            try:
                if isinstance(event, Judgment):
                    if event.id in self._seen:
                        duplicates += 1
                        continue
                    self._admit(offset, event, columns)
                    judgments += 1
                else:
                    if f"command:{event.id}" in self._seen:
                        duplicates += 1
                        continue
                    standing = obey(self.standing, event)
                    self._remember(f"command:{event.id}")
                    self._rate(columns)
                    columns = _Columns()
                    self._take_over(msgspec.structs.replace(standing, offset=offset))
                    commands += 1
                if event.at > self.clock:
                    self.clock = event.at
            except RecordError as error:
                rejections.append((offset, error))
                rejected += self.exists
        self._rate(columns)
        self.counts = Counts(
            judgments=self.counts.judgments + judgments,
            commands=self.counts.commands + commands,
            duplicates=self.counts.duplicates + duplicates,
            rejected=self.counts.rejected + rejected,
        )
        rows = tuple(self.tables.system_rows(self.model, self.tables.dirty_systems))
        return Applied(
            rejections=tuple(rejections),
            rows=rows,
            ratings=tuple(self._rating(row, origin) for row in rows),
            requests=tuple(self.requests.fill(self, origin=origin, seed=self._options.seed)),
            standing=None if self.standing is before else self.standing,
        )

    def _admit(self, offset: int, judgment: Judgment, columns: _Columns) -> None:
        """Take one new judgment in, or raise before anything has changed."""
        if not self.exists and not self._options.create_unknown:
            message = f"there is no campaign {self.name!r}; `create` it first"
            raise RecordError("unknown_campaign", message, field="campaign")
        if self.standing.state == "closed":
            raise RecordError("campaign_closed", f"the campaign {self.name!r} is closed", field="campaign")
        kind = "scores" if judgment.ranks is None else "rankings"
        if kind != self.model.kind:
            message = f"the model {self.model.name!r} rates {self.model.kind}, and this is one of the {kind}"
            raise RecordError("unsuited_to_model", message, field="ranks" if judgment.ranks else "score")
        names = self.tables.systems
        try:
            systems = [names.index[system] for system in judgment.systems]
        except KeyError:
            self._check_new(judgment.systems)
            systems = [names.add(system) for system in judgment.systems]
        pseudonyms = self._options.pseudonyms
        columns.systems += systems
        columns.ranks += judgment.ranks or (1,)
        columns.scores.append(nan if judgment.score is None else judgment.score)
        columns.starts.append(len(columns.systems))
        judge = judgment.judge if pseudonyms is None else pseudonyms[judgment.judge]
        columns.judges.append(self.tables.judges.add(judge))
        columns.segments.append(self.tables.segments.add(judgment.segment))
        columns.durations.append(-1 if judgment.duration_ms is None else judgment.duration_ms)
        columns.offsets.append(offset)
        if judgment.request is not None:
            self.requests.answered(judgment.request)
        self._remember(judgment.id)
        if not self.exists:
            self.standing = msgspec.structs.replace(self.standing, offset=offset)

    def _check_new(self, systems: Sequence[str]) -> None:
        known = self.tables.systems
        new = [system for system in systems if system not in known.index]
        if self.standing.settings.systems:
            hint = suggestion(new[0], known.names)
            message = f"the campaign {self.name!r} has no system {shown(new[0])}; {hint}"
            raise RecordError("unknown_system", message, field="systems")
        if len(known) + len(new) > MAX_SYSTEMS:
            message = f"the campaign {self.name!r} has {len(known)} systems; at most {MAX_SYSTEMS} fit"
            raise RecordError("too_many_systems", message, field="systems")

    def _remember(self, judgment_id: str) -> None:
        """Keep exactly the last ids, whatever the batches."""
        self._seen.add(judgment_id)
        self._seen_order.append(judgment_id)
        self._seen_new.append(judgment_id)
        if len(self._seen_order) > self._options.seen_ids:
            self._seen.discard(self._seen_order.popleft())

    def _rate(self, columns: _Columns) -> None:
        if not columns.offsets:
            return
        batch = models.Batch(
            systems=np.array(columns.systems, np.int64),
            ranks=np.array(columns.ranks, np.int64),
            starts=np.array(columns.starts, np.int64),
            judges=np.array(columns.judges, np.int64),
            segments=np.array(columns.segments, np.int64),
            scores=np.array(columns.scores, np.float64),
        )
        self._grow()
        self.tables.record(
            batch, offsets=np.array(columns.offsets, np.int64), durations=np.array(columns.durations, np.int64)
        )
        self.model.apply(batch)

    def _take_over(self, standing: events.Campaign) -> None:
        """Let new settings come into force; those that open the campaign choose its model too."""
        settings = standing.settings
        if not self.exists:
            self.model = models.create(settings.model, settings.parameters, budget=settings.budget)
        named = (*settings.systems, settings.baseline) if settings.baseline else settings.systems
        self.tables.enter(systems=named, segments=settings.segments)
        self.model.baseline = self.tables.systems.index[settings.baseline] if settings.baseline else None
        self.standing = standing
        self._grow()

    def _grow(self) -> None:
        self.tables.grow()
        self.model.grow(len(self.tables.systems), len(self.tables.judges), len(self.tables.segments))

    # -- what goes out ---------------------------------------------------------------------------------

    @property
    def active(self) -> list[int]:
        """Give the systems that were not withdrawn."""
        withdrawn = self.standing.withdrawn
        return [i for i, name in enumerate(self.tables.systems.names) if name not in withdrawn]

    def leaderboard(self) -> events.Leaderboard:
        """Rank the systems that are in the campaign now."""
        mean, deviation = self.model.scores()
        active = self.active
        return events.Leaderboard(
            campaign=self.name,
            model=self.model.name,
            sequence=self.counts.records,
            offset=self.offset,
            judgments=self.counts.judgments,
            rows=ranking.rows(
                [self.tables.systems.names[i] for i in active],
                mean[active],
                deviation[active],
                self.tables.system_judgments[active].tolist(),
            ),
        )

    def _rating(self, row: SystemRow, origin: str) -> Rating:
        system = self.tables.systems.names[row.index]
        return Rating(
            id=f"{origin}/{self.offset}/{system}",
            campaign=self.name,
            system=system,
            mean=row.mean,
            deviation=row.deviation,
            wins=row.wins,
            ties=row.ties,
            losses=row.losses,
            judgments=row.judgments,
            offset=self.offset,
        )

    # -- what is kept ----------------------------------------------------------------------------------

    def change(self, applied: Applied, outbox: tuple[Output, ...]) -> CampaignChange:
        """Give what changed since the last call, for a store to persist."""
        meta = CampaignMeta(
            standing=self.standing,
            offset=self.offset,
            clock=self.clock,
            counts=self.counts,
            outstanding=tuple(self.requests.outstanding.values()),
        )
        change = CampaignChange(
            campaign=self.name,
            before=self._persisted,
            after=self.offset,
            meta=events.encode(meta),
            tables=self.tables.take(applied.rows, self.model),
            scores={self.tables.systems.names[row.index]: row.mean for row in applied.rows},
            withdrawn=self.standing.withdrawn,
            seen=tuple(self._seen_new),
            seen_ids=self._options.seen_ids,
            outbox=outbox,
        )
        self._seen_new = []
        self._persisted = self.offset
        return change

    @classmethod
    def restore(cls, name: str, stored: StoredCampaign, *, options: Options | None = None) -> Campaign:
        """Put a stored campaign back, to the last bit."""
        try:
            meta = msgspec.json.decode(stored.meta, type=CampaignMeta)
        except msgspec.DecodeError as error:
            raise StoreCorrupt(f"campaign {name!r}: its stored state can't be read: {error}") from None
        if meta.layout != LAYOUT:
            raise StoreCorrupt(f"campaign {name!r}: stored in layout {meta.layout}, this version reads {LAYOUT}")
        settings = meta.standing.settings
        bare = msgspec.structs.replace(settings, systems=(), segments=(), baseline=None)
        campaign = cls(name, bare, options=options)
        campaign.tables.restore(stored.tables, campaign.model)
        campaign.standing = meta.standing
        if settings.baseline:
            campaign.model.baseline = campaign.tables.systems.index[settings.baseline]
        campaign.offset = campaign._persisted = meta.offset
        campaign.clock, campaign.counts = meta.clock, meta.counts
        campaign.requests = Requests(meta.outstanding)
        for judgment_id in stored.seen:
            campaign._remember(judgment_id)
        campaign._seen_new = []
        return campaign
