"""A campaign that can be restored and read. The monitor, the reports and the commands that show one use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from streams.core.campaign import board
from streams.core.campaign.forgotten_verdicts import ForgottenVerdicts
from streams.core.campaign.logged_changes import LoggedChanges
from streams.core.campaign.options import CampaignOptions
from streams.core.campaign.rating_state import RatingState
from streams.core.campaign.recent_votes import RecentVotes
from streams.core.campaign.request_rows import RequestRows
from streams.core.campaign.retractions import Retractions
from streams.core.campaign.seen import SeenIds
from streams.core.campaign.state import CampaignMeta, Counts, MetaEncoder, decode_meta
from streams.core.ranking.cautions import caution
from streams.errors import StoreCorrupt
from streams.wire.events import EPOCH, CampaignSettings, CampaignStatus, Leaderboard
from streams.wire.leaderboard import category_order
from streams.wire.quarantine import describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Self

    from streams.core.campaign.bootstrap import Bootstrap
    from streams.core.campaign.categories import CategoryCounts
    from streams.core.campaign.state import StoredCampaign
    from streams.core.campaign.tables import CampaignTables
    from streams.core.judges.live import LiveResiduals
    from streams.core.models import Model
    from streams.wire.events import MatchRequest, Rating
    from streams.wire.leaderboard import Category, Caution


# Judgments that a defence left out are a caution.
DEFENCES = {
    "repeated": "because their judge judged the same match before or later",
    "over_share": "because their judge has too large a share",
    "suspended": "because their judge is suspended",
}


class ReadOnlyCampaign:
    """The state of one campaign, without a way to change it. `Campaign` adds that."""

    def __init__(
        self, name: str, settings: CampaignSettings | None = None, *, options: CampaignOptions | None = None
    ) -> None:
        self.name = name
        self.offset = -1  # of the last record that was applied
        self.outstanding: dict[str, MatchRequest] = {}  # match requests that are neither answered nor expired, by id
        self.opened = -1  # the offset of the record that opened the campaign
        self.deleted = -1  # the offset of the command that deleted what the campaign was before
        self.status = CampaignStatus(
            campaign=name, state="open", settings=settings or CampaignSettings(), withdrawn=(), offset=-1
        )
        self._options = options or CampaignOptions()
        self._begin(self.status.settings)
        self._persisted = -1  # the offset up to which changes were drained
        self._is_whole = False  # whether the rows in a store are to be removed first
        self._meta_encoder = MetaEncoder()
        self._request_rows = RequestRows()

    def _begin(self, settings: CampaignSettings, *, deleted: int = 0) -> None:
        """Begin without judgments. Of the records of a campaign that was `deleted` only the number is left."""
        self.clock: datetime = EPOCH  # the latest time of an event so far; one event moves it by a day at most
        self.counts = Counts(deleted=deleted)
        self.retractions = Retractions()
        self.verdicts = ForgottenVerdicts()
        self._seen = SeenIds(self._options.seen_ids)
        self._votes = RecentVotes(settings.repeat_window)
        self.changes = None if self._options.remember_verdicts else LoggedChanges()
        self._state = RatingState(settings, self._options)
        self._last_settled = board.LastSettled()
        self._last_categories: dict[int, board.LastSettled] = {}

    @classmethod
    def restore(cls, name: str, stored: StoredCampaign, *, options: CampaignOptions | None = None) -> Self:
        """Return a stored campaign, to the last bit. Raise StoreCorrupt if it cannot be read."""
        if stored.problem is not None:
            raise StoreCorrupt(
                f"campaign {name!r}: {stored.problem}; rate it again from its log with: judgestream rebuild {name}"
            )
        meta = decode_meta(name, stored.meta)
        campaign = cls.from_meta(meta, options=options)
        campaign._state = RatingState.restore(
            name, meta.status.settings, stored.tables, campaign._options, shared=meta.model
        )
        campaign._state.stop = meta.stop
        campaign._seen = SeenIds(campaign._options.seen_ids, stored.seen)
        campaign._votes = RecentVotes(meta.status.settings.repeat_window, stored.tables["votes"])
        return campaign

    @classmethod
    def from_meta(
        cls, meta: CampaignMeta, *, persisted: int | None = None, options: CampaignOptions | None = None
    ) -> Self:
        """Return a campaign without its rows. A store has it at the offset `persisted`, or at that of the meta."""
        campaign = cls(meta.status.campaign, options=options)
        campaign.offset = meta.offset
        campaign._persisted = meta.offset if persisted is None else persisted
        campaign.opened, campaign.clock, campaign.counts = meta.opened, meta.clock, meta.counts
        campaign.deleted = meta.deleted
        campaign.status, campaign.retractions, campaign.verdicts = meta.status, meta.retractions, meta.verdicts
        campaign.outstanding = {request.id: request for request in meta.outstanding}
        campaign._request_rows = RequestRows(campaign.outstanding)
        return campaign

    @property
    def persisted_offset(self) -> int:
        """The offset at which a store has the campaign."""
        return self._persisted

    @property
    def exists(self) -> bool:
        """Whether a `create` command or a judgment has opened the campaign."""
        return self.status.offset >= 0

    @property
    def model(self) -> Model:
        """The model that rates the systems."""
        return self._state.model

    @property
    def tables(self) -> CampaignTables:
        """Who took part, and the outcomes of each pair of systems."""
        return self._state.tables

    @property
    def bootstrap(self) -> Bootstrap | None:
        """The resampled copies of the model, if the settings ask for them."""
        return self._state.bootstrap

    @property
    def active(self) -> list[int]:
        """The systems that have not been withdrawn, by index."""
        withdrawn, names = self.status.withdrawn, self._state.tables.systems.names
        if not withdrawn:
            return list(range(len(names)))
        return [i for i, name in enumerate(names) if name not in withdrawn]

    @property
    def required_system(self) -> str | None:
        """The system that every judgment must contain, or None if any systems may meet."""
        required = self.model.required_system
        return None if required is None else self.tables.systems.names[required]

    @property
    def meta(self) -> CampaignMeta:
        """Everything of the campaign that is not a row of a table."""
        return CampaignMeta(
            status=self.status,
            offset=self.offset,
            clock=self.clock,
            counts=self.counts,
            opened=self.opened,
            deleted=self.deleted,
            outstanding=tuple(self.outstanding.values()),
            model=self.model.dump_shared(),
            stop=self._state.stop,
            retractions=self.retractions,
            verdicts=self.verdicts,
        )

    def leaderboard(self) -> Leaderboard:
        """Return the ranking of the systems that have not been withdrawn."""
        draft = self.draft_leaderboard()
        return draft.settle() if isinstance(draft, board.BoardDraft) else draft

    def draft_leaderboard(self) -> board.BoardDraft | Leaderboard:
        """Return the leaderboard, or a draft to be settled in any thread, because that may take seconds."""
        quarantine, counts, tables = self.status.quarantine, self.counts, self.tables
        begun = Leaderboard(
            campaign=self.name,
            model=self.model.name,
            sequence=counts.included,
            offset=self.offset if quarantine is None else quarantine.offset - 1,
            judgments=counts.judgments,
            rows=(),
            judges=tables.active_judges,
            cautions=self._left_out_cautions(),
            left_out=counts.left_out,
            pending=self._describe_pending(),
        )
        names, scale = tables.systems.names, self.model.board_scale()
        if scale is None:
            return board.rank_without_counts(begun, self.model, tables, self.bootstrap, self.active, status=self.status)
        listed = self.status.settings.systems
        shown = tuple(names[i] for i in self.active if tables.system_judgments[i] or names[i] in listed)
        return board.BoardDraft(
            leaderboard=begun,
            status=self.status,
            counts=tables.copy_counts(),
            scale=scale,
            shown=shown,
            key=(tables.groups.version, shown, self.status.state, self.status.settings),
            last=self._last_settled,
            judges=self.judges_so_far() if self._options.follow_judges else None,
            answers=self.model.judge_outcomes(),
        )

    @property
    def categories(self) -> CategoryCounts | None:
        """The counts of each category, if the setting `boards` asks for them."""
        return self._state.categories

    def category_leaderboards(self) -> tuple[Leaderboard, ...]:
        """Return the leaderboard of each category, in order of tag and value."""
        drafts = self.draft_categories()
        return tuple(sorted((draft.settle() for draft in drafts.values()), key=category_order))

    def draft_categories(
        self, emitted: Mapping[int, int] | None = None, *, only: Callable[[Category], bool] | None = None
    ) -> dict[int, board.BoardDraft]:
        """Return the leaderboards of the categories, to be settled, by number.

        `emitted` has hashes of the keys of earlier drafts. A category that has not changed since is left out.
        `only` says which categories are asked for.
        """
        counts, scale = self.categories, self.model.board_scale()
        if counts is None or scale is None:
            return {}
        names, quarantine, withdrawn = self.tables.systems.names, self.status.quarantine, self.status.withdrawn
        # The budget and the stop rule are those of all judgments.
        settings = replace(self.status.settings, budget=None, stop_confidence=None)
        found: dict[int, board.BoardDraft] = {}
        for number, category in enumerate(counts.names):
            if only is not None and not only(category):
                continue
            shown = tuple(name for i in counts.systems(number) if (name := names[i]) not in withdrawn)
            key = (counts.versions[number], shown, self.status.state)
            if emitted is not None and emitted.get(number) == hash(key):
                continue
            found[number] = board.BoardDraft(
                leaderboard=Leaderboard(
                    campaign=self.name,
                    model=self.model.name,
                    sequence=self.counts.included,
                    offset=self.offset if quarantine is None else quarantine.offset - 1,
                    judgments=counts.rankings[number],
                    rows=(),
                    judges=counts.judges(number),
                    pending=self._describe_pending(),
                    category=category,
                ),
                status=replace(self.status, settings=settings),
                counts=counts.copy(number, names),
                scale=scale,
                shown=shown,
                key=key,
                last=self._last_categories.setdefault(number, board.LastSettled()),
            )
        return found

    def _describe_pending(self) -> str | None:
        """Return what a leaderboard does not include yet, or None."""
        if self.status.quarantine is not None:
            return describe_quarantine(self.name, self.status.quarantine)
        if waiting := len(self.verdicts):
            words = "1 verdict that was" if waiting == 1 else f"{waiting:,} verdicts that were"
            return f"{words} changed or revoked may still count, until the campaign is rated again without them"
        return None

    def judges_so_far(self) -> LiveResiduals:
        """Return the votes of the judges against the votes before them, to be tested unless the settings forbid it."""
        tables, tested = self.tables, self.status.settings.suspend_judges != "off"
        return self._state.residuals.live(
            tables.systems.names, tables.judges.names, tables.judge_judgments, tested=tested
        )

    def _left_out_cautions(self) -> tuple[Caution, ...]:
        numbers = {words: getattr(self.counts, name) for name, words in DEFENCES.items()}
        named = ", ".join(f"{number:,} {words}" for words, number in numbers.items() if number)
        return (caution("left_out", f"Judgments were left out: {named}."),) if named else ()

    def ratings(self, *, origin: str = "log") -> tuple[Rating, ...]:
        """Return the present rating of every system. Their ids begin with `origin`."""
        names = self.tables.systems.names
        rows = self.tables.system_rows(self.model, range(len(names)))
        return board.make_ratings(rows, names, campaign=self.name, offset=self.offset, origin=origin)
