"""The pure heart: one campaign, to which its log is applied in order, a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from streams.core import models, ranking
from streams.core.campaign.admission import check, check_new_systems, check_pace
from streams.core.campaign.bootstrap import Bootstrap
from streams.core.campaign.bulk import admit_all
from streams.core.campaign.columns import Columns
from streams.core.campaign.commands import apply_command
from streams.core.campaign.requests import Requests
from streams.core.campaign.seen import SeenIds
from streams.core.campaign.state import CampaignChange, CampaignMeta, Counts, Retractions, decode_meta
from streams.core.campaign.tables import CampaignTables
from streams.core.ranking.outlook import outlook
from streams.errors import HistoryGone, RecordError, StoreCorrupt
from streams.wire import events
from streams.wire.events import EPOCH, LONGEST_JUMP, ExcludeJudge, Judgment, Rating, Retract

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from streams.core.campaign.columns import Admitted
    from streams.core.campaign.state import StoredCampaign, SystemRow
    from streams.core.ranking.outlook import Outlook
    from streams.wire.events import MatchRequest
    from streams.wire.outputs import Output

    Entry = tuple[int, Judgment | events.Command]  # an offset and what stands there
    History = Callable[[int], Iterable[Entry]]  # the campaign's log before an offset


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """What a campaign is given from outside; a judgment may open it if `create_unknown`."""

    pseudonyms: Mapping[str, str] | None = None
    seen_ids: int = 100_000
    create_unknown: bool = True
    seed: int = 1


@dataclass
class Walk:
    """What records of the log came to, besides the tables and the model."""

    rejections: dict[int, RecordError] = field(default_factory=dict)  # by offset
    strays: int = 0  # of these, so many came before the campaign was opened
    applied: int = 0  # judgments, commands, and judgments that were retracted beforehand
    duplicates: int = 0  # repeats: of an offset, of a judgment's or of a command's id
    statuses: list[events.CampaignStatus] = field(default_factory=list)  # one for each time that it changed


@dataclass(frozen=True, kw_only=True)
class Applied:
    """What a batch did to a campaign."""

    walk: Walk
    rows: tuple[SystemRow, ...]
    ratings: tuple[Rating, ...]
    requests: tuple[MatchRequest, ...]

    @property
    def rejections(self) -> dict[int, RecordError]:
        """Give what was rejected, by offset."""
        return self.walk.rejections


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
        self, name: str, settings: events.CampaignSettings | None = None, *, options: CampaignOptions | None = None
    ) -> None:
        self.name = name
        self.offset = -1
        self.opened = -1  # the offset of the record that opened it
        self.clock: datetime = EPOCH  # the latest time that an event of the log names, a day on at most
        self.counts = Counts()
        self.retractions = Retractions()
        self.requests = Requests()
        self._options = options or CampaignOptions()
        self.pseudonyms = self._options.pseudonyms
        self._persisted = -1
        self.status = events.CampaignStatus(
            campaign=name, state="open", settings=settings or events.CampaignSettings(), withdrawn=(), offset=-1
        )
        self.tables = CampaignTables()
        self.seen = SeenIds(self._options.seen_ids)
        self._whole = False  # whether the tables were made anew since they were last kept
        self._take_over(self.status)

    @property
    def exists(self) -> bool:
        """Say whether a `create` or a judgment has opened the campaign."""
        return self.status.offset >= 0

    # -- applying the log ------------------------------------------------------------------------------

    def apply(self, batch: Sequence[Entry], *, origin: str = "log", history: History | None = None) -> Applied:
        """Apply the next records of the log in order.

        `origin` begins the ids of what comes out; `history` gives the log again, which a retraction needs.
        """
        offsets, entries = [offset for offset, _ in batch], [entry for _, entry in batch]
        return self.take(offsets, entries, origin=origin, history=history)

    def take(
        self,
        offsets: Sequence[int],
        entries: Sequence[Judgment | events.Command],
        *,
        origin: str = "log",
        history: History | None = None,
    ) -> Applied:
        """Apply records whose offsets and events stand in two lists."""
        before = self.offset
        admitted = admit_all(self, offsets, entries) if offsets else None
        if admitted is None:
            walk = self._walk(zip(offsets, entries, strict=True), history)
        else:
            self._rate(admitted)
            walk = Walk(applied=len(admitted.offsets))
        rows = tuple(self.tables.system_rows(self.model, self.tables.dirty_systems))
        # What was applied before a restart has asked for its matches then, under the same ids.
        asked = self.requests.fill(self, origin=origin, seed=self._options.seed) if self.offset > before else ()
        return Applied(
            walk=walk, rows=rows, ratings=tuple(self._rating(row, origin) for row in rows), requests=tuple(asked)
        )

    def _walk(self, batch: Iterable[Entry], history: History | None) -> Walk:
        walk = Walk()
        status = self.status
        columns = Columns()
        for offset, event in batch:
            if offset <= self.offset:  # applied before a restart
                walk.strays += offset < self.opened  # or rejected, before the campaign was there
                walk.duplicates += 1
                continue
            self.offset = offset
            try:
                if _key(event) in self.seen:
                    walk.duplicates += 1
                    self._count(duplicates=1)
                elif not isinstance(event, Judgment):
                    self._rate(columns.admitted())
                    columns = Columns()
                    self._apply_command(offset, event, history)
                    walk.applied += 1
                elif self._is_retracted(offset, event):
                    if not self.exists:
                        self._open(offset, event)  # commands came after it
                    self.seen.add(event.id)
                    self._count(retracted=1)
                    walk.applied += 1
                else:
                    self._admit(offset, event, columns)
                    walk.applied += 1
                if event.at > self.clock:
                    self.clock = event.at if self.clock == EPOCH else min(event.at, self.clock + LONGEST_JUMP)
                if self.status is not status:
                    self.opened = offset if self.opened < 0 else self.opened
                    status = self.status
                    walk.statuses.append(status)
            except RecordError as error:
                walk.rejections[offset] = error
                walk.strays += not self.exists
                self._count(rejected=int(self.exists))
        self._rate(columns.admitted())
        return walk

    def _check(self, judgment: Judgment, judge: str) -> None:
        if not self.exists and not self._options.create_unknown:
            message = f"there is no campaign {self.name!r}; `create` it first"
            raise RecordError("unknown_campaign", message, field="campaign")
        check(judgment, judge, status=self.status, model=self.model)

    def _open(self, offset: int, judgment: Judgment) -> None:
        """Let a judgment that was retracted open the campaign, as it did when it came."""
        self._check(judgment, self._pseudonym(judgment.judge))
        self.status = msgspec.structs.replace(self.status, offset=offset)

    def _admit(self, offset: int, judgment: Judgment, columns: Columns) -> None:
        """Take one new judgment in, or raise before anything has changed."""
        judge = self._pseudonym(judgment.judge)
        self._check(judgment, judge)
        settings, paces = self.status.settings, self.tables.paces
        flagged = check_pace(judgment, judge, settings=settings, paces=paces)
        names = self.tables.systems
        try:
            systems = [names.index[system] for system in judgment.systems]
        except KeyError:
            check_new_systems(judgment.systems, known=names.names, status=self.status)
            systems = [names.add(system) for system in judgment.systems]
        columns.append(
            offset,
            judgment,
            systems=systems,
            judge=self.tables.judges.add(judge),
            segment=self.tables.segments.add(judgment.segment),
        )
        if settings.judge_per_minute is not None:
            paces.count(judge, judgment.at, flagged=flagged)
        if judgment.request is not None:
            self.requests.answered(judgment.request)
        self.seen.add(judgment.id)
        if not self.exists:
            self.status = msgspec.structs.replace(self.status, offset=offset)

    def _rate(self, admitted: Admitted) -> None:
        if not len(admitted.offsets):
            return
        batch = admitted.batch
        self._grow()
        self.tables.record(batch, self.model, offsets=admitted.offsets, durations=admitted.durations)
        self.model.apply(batch)
        if self.bootstrap is not None:
            self.bootstrap.apply(batch, admitted.keys)
        self._count(judgments=len(admitted.offsets))

    def _count(self, **more: int) -> None:
        counts = {name: getattr(self.counts, name) + number for name, number in more.items()}
        self.counts = msgspec.structs.replace(self.counts, **counts)

    def _pseudonym(self, judge: str) -> str:
        return judge if self.pseudonyms is None else self.pseudonyms[judge]

    # -- commands --------------------------------------------------------------------------------------

    def _apply_command(self, offset: int, command: events.Command, history: History | None) -> None:
        if isinstance(command, ExcludeJudge | Retract) and command.judge is not None:
            command = msgspec.structs.replace(command, judge=self._pseudonym(command.judge))
        status = apply_command(self.status, command)
        if isinstance(command, Retract):
            self._retract(offset, command, history)
        self.seen.add(_key(command))
        self._take_over(msgspec.structs.replace(status, offset=offset, command=command.id))
        self._count(commands=1)

    def _take_over(self, status: events.CampaignStatus) -> None:
        """Let new settings come into force; those that open the campaign choose its model too."""
        settings = status.settings
        if not self.exists:
            self.model = models.create(settings.model, settings.parameters, budget=settings.budget)
            self.bootstrap = Bootstrap.for_model(self.model, settings.replicas)
        named = (*settings.systems, settings.baseline) if settings.baseline else settings.systems
        self.tables.enter(systems=named, segments=settings.segments)
        self.model.baseline = self.tables.systems.index[settings.baseline] if settings.baseline else None
        self.status = status
        self._grow()

    def _grow(self) -> None:
        systems = len(self.tables.systems)
        self.tables.grow()
        self.model.grow(systems, len(self.tables.judges), len(self.tables.segments))
        if self.bootstrap is not None:
            self.bootstrap.grow(systems)

    def _is_retracted(self, offset: int, judgment: Judgment) -> bool:
        ids, judges = self.retractions.ids, self.retractions.judges
        if not ids and not judges:
            return False
        return judgment.id in ids or offset < judges.get(self._pseudonym(judgment.judge), -1)

    def _retract(self, offset: int, command: Retract, history: History | None) -> None:
        """Rate the campaign again from its log, without what is retracted."""
        before = self.retractions
        known = -1 if command.judge is None else before.judges.get(command.judge, -1)
        self.retractions = Retractions(
            ids=tuple(dict.fromkeys((*before.ids, *command.judgments))),
            judges=before.judges | ({} if command.judge is None else {command.judge: max(offset, known)}),
        )
        if self.retractions == before:
            return  # so it is when the log is walked again
        if history is None:
            self.retractions = before
            message = "the log can't be read again here, and a retraction needs it"
            raise RecordError("refused_command", message, field="action")
        again = Campaign(self.name, options=self._options)
        again.retractions = self.retractions
        try:
            again._walk(history(offset), None)
        except HistoryGone as error:
            self.retractions = before
            raise RecordError("refused_command", str(error), field="action") from None
        self.tables, self.model, self.bootstrap = again.tables, again.model, again.bootstrap
        self.counts, self.seen, self._whole = again.counts, again.seen, True

    # -- what goes out ---------------------------------------------------------------------------------

    @property
    def active(self) -> list[int]:
        """Give the systems that were not withdrawn."""
        withdrawn = self.status.withdrawn
        return [i for i, name in enumerate(self.tables.systems.names) if name not in withdrawn]

    def outlook(self) -> Outlook:
        """Say whether more judgments would still change the clusters, at the confidence asked for or 95 %."""
        settings = self.status.settings
        remaining = None if settings.budget is None else max(0, settings.budget - self.counts.judgments)
        return outlook(
            self.model, candidates=self.active, confidence=settings.stop_confidence or 0.95, remaining=remaining
        )

    def leaderboard(self) -> events.Leaderboard:
        """Rank the systems that are in the campaign now, with the ranges of the posterior and of the replicas."""
        mean, deviation = self.model.scores()
        active = self.active
        rows = ranking.rows(
            [self.tables.systems.names[i] for i in active],
            mean[active],
            deviation[active],
            self.tables.system_judgments[active].tolist(),
        )
        if self.bootstrap is not None and rows:
            index = self.tables.systems.index
            rows = ranking.widen_ranges(rows, *self.bootstrap.ranges([index[row.system] for row in rows]))
        return events.Leaderboard(
            campaign=self.name,
            model=self.model.name,
            sequence=self.counts.records,
            offset=self.offset,
            judgments=self.counts.judgments,
            rows=rows,
        )

    def ratings(self, *, origin: str = "log") -> tuple[Rating, ...]:
        """Give the rating of every system as it stands."""
        rows = self.tables.system_rows(self.model, range(len(self.tables.systems)))
        return tuple(self._rating(row, origin) for row in rows)

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
            status=self.status,
            offset=self.offset,
            clock=self.clock,
            counts=self.counts,
            opened=self.opened,
            outstanding=tuple(self.requests.outstanding.values()),
            retractions=self.retractions,
        )
        names = self.tables.systems.names
        tables = self.tables.drain_changes(applied.rows, self.model)
        bootstrap = self.bootstrap
        tables["replicas"] = (
            {names[row.index]: bootstrap.dump_row(row.index) for row in applied.rows} if bootstrap else {}
        )
        change = CampaignChange(
            campaign=self.name,
            before=self._persisted,
            after=self.offset,
            whole=self._whole,
            meta=events.encode(meta),
            tables=tables,
            scores={names[row.index]: row.mean for row in applied.rows},
            withdrawn=self.status.withdrawn,
            seen=self.seen.drain_changes(),
            seen_ids=self.seen.kept,
            outbox=outbox,
        )
        self._persisted, self._whole = self.offset, False
        return change

    def discard_changes(self) -> None:
        """Let go of the account of what changed, where nobody keeps it."""
        self.tables.forget_changes()
        self.seen.discard_changes()

    @classmethod
    def restore(cls, name: str, stored: StoredCampaign, *, options: CampaignOptions | None = None) -> Campaign:
        """Put a stored campaign back, to the last bit."""
        meta = decode_meta(name, stored.meta)
        # The stored tables name the systems and segments in their order.
        bare = msgspec.structs.replace(meta.status.settings, systems=(), segments=(), baseline=None)
        campaign = cls(name, bare, options=options)
        try:
            campaign.tables.restore(stored.tables, campaign.model)
        except (KeyError, msgspec.DecodeError) as error:
            raise StoreCorrupt(
                f"campaign {name!r}: a stored row is missing or can't be read: {error}; mend it with: "
                f"judgestream rebuild {name}"
            ) from None
        campaign.status = meta.status
        campaign._take_over(meta.status)
        if campaign.bootstrap is not None:
            for system, row in stored.tables["replicas"].items():
                campaign.bootstrap.load_row(campaign.tables.systems.index[system], row)
        campaign.offset = campaign._persisted = meta.offset
        campaign.opened, campaign.clock, campaign.counts = meta.opened, meta.clock, meta.counts
        campaign.retractions = meta.retractions
        campaign.requests = Requests(meta.outstanding)
        campaign.seen = SeenIds(campaign._options.seen_ids, stored.seen)
        return campaign


def _key(event: Judgment | events.Command) -> str:
    """Give the id by which a repeat is known; judgments and commands have theirs apart."""
    return event.id if isinstance(event, Judgment) else f"command:{event.id}"
