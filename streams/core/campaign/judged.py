"""The judgments of a campaign: each is admitted and rated, left out and counted, or rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from zlib import crc32

import msgspec

from streams.core.campaign import bulk
from streams.core.campaign.admission import check_judgment, check_pace, check_room, check_systems, is_over_share
from streams.core.campaign.columns import category_columns
from streams.core.campaign.gold import GoldItems, passes
from streams.core.campaign.pace import pace_time
from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.core.campaign.recent_votes import Vote, match_key
from streams.core.campaign.request_ids import already_answered, answer_key, check_request
from streams.wire.scanner import JudgmentColumns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from streams.core.campaign.columns import Admitted, Columns
    from streams.wire.events import Command, Judgment

    # Why a judgment is not rated, as it is counted.
    LeftOut = Literal["retracted", "suspended", "repeated", "over_share", "gold"]


class JudgedCampaign(ReadOnlyCampaign):
    """A campaign to which judgments are applied."""

    _gold = GoldItems(())  # as of the settings that were last looked at

    def _admit_all(self, offsets: Sequence[int], events: Sequence[Judgment | Command]) -> Admitted | None:
        """Admit a batch of ordinary judgments at once. Return None, with nothing changed, for any other batch."""
        if not self._may_admit(offsets):
            return None
        if isinstance(events, JudgmentColumns):
            return self._admit_columns(offsets, events)
        return self._admit_judgments(offsets, events)

    def _may_admit(self, offsets: Sequence[int]) -> bool:
        """Return whether records may be admitted at once, if all of them are ordinary judgments."""
        if not len(offsets) or offsets[0] <= self.offset:
            return False
        return bulk.may_admit(offsets[0], model=self.model, status=self.status, retractions=self.retractions)

    def _admit_judgments(self, offsets: Sequence[int], events: Sequence[Judgment | Command]) -> Admitted | None:
        tables = self._state.tables
        found = bulk.check_judgments(
            events,
            status=self.status,
            tables=tables,
            seen=self._seen,
            retractions=self.retractions,
            pseudonyms=self._options.pseudonyms,
            clock=self.clock,
        )
        if found is None:
            return None
        self.offset, self.clock = offsets[-1], max(self.clock, found.latest)
        self._seen.add_all(found.ids)
        for request in found.answered:
            self.outstanding.pop(request, None)
        return found.admitted(
            offsets,
            judges=tables.judges.add_all(found.judges),
            segments=tables.segments.add_all(found.segments),
            categories=category_columns([self._state.number_categories(tags) for tags in found.tags]),
        )

    def _admit_columns(self, offsets: Sequence[int], columns: JudgmentColumns) -> Admitted | None:
        tables = self._state.tables
        found = bulk.check_columns(
            columns,
            status=self.status,
            tables=tables,
            retractions=self.retractions,
            pseudonyms=self._options.pseudonyms,
            clock=self.clock,
        )
        if found is None or not self._seen.add_scanned(columns):
            return None
        self.offset, self.clock = int(offsets[-1]), max(self.clock, columns.latest_time)
        for request in found.answered:
            self.outstanding.pop(request, None)
        return found.admitted(
            offsets,
            judges=tables.judges.add_numbered(found.judges),
            segments=tables.segments.add_numbered(found.segments),
        )

    def _apply_judgment(
        self, offset: int, judgment: Judgment, columns: Columns, *, written_at: float | None = None
    ) -> None:
        """Admit a new judgment or leave it out, or raise before anything has changed.

        The broker wrote it at Unix time `written_at`, if that is known.
        """
        judge = self._pseudonym(judgment.judge)
        left_out: LeftOut | None = self.retractions.find_reason(judgment.id, judge, offset)
        if not self.exists or left_out is None:  # one that is left out may have opened the campaign when it came
            check_judgment(
                judgment,
                judge,
                status=self.status,
                model=self.model,
                create_unknown=self._options.create_unknown,
            )
        if left_out is None:
            left_out = self._admit(offset, judgment, judge, columns, written_at)
        if left_out is not None:
            self._count(**{left_out: 1})
        self._seen.add(judgment.id)
        if not self.exists:
            self.status = msgspec.structs.replace(self.status, offset=offset)

    def _admit(
        self, offset: int, judgment: Judgment, judge: str, columns: Columns, written_at: float | None
    ) -> LeftOut | None:
        """Admit a judgment. Return why it is left out if a defence of the campaign says so, with nothing changed."""
        tables, settings = self.tables, self.status.settings
        if settings.requests_only:
            check_request(judgment, key=self._options.request_key, clock=self.clock)
            if answer_key(judgment.request or "") in self._seen:
                raise already_answered(judgment)
        check_room(judge, known=tables.judges, campaign=self.name)
        when = pace_time(judgment, written_at, clock=settings.pace_clock)
        flagged = check_pace(judge, when, settings=settings, paces=tables.paces)
        if (item := self._gold_items().find(judgment)) is not None:
            self._check_judge(offset, judge, passed=passes(judgment, item))
            self._end_admission(judgment, judge, when, flagged=flagged)
            return "gold"
        check_systems(judgment.systems, known=tables.systems.index, status=self.status, required=self.required_system)
        match = b"" if settings.repeat_votes == "all" else match_key(judge, judgment.segment, judgment.systems)
        earlier = self._votes.find(match) if match else None
        if earlier is not None and settings.repeat_votes == "first":
            return "repeated"
        if earlier is None and self._is_over_share(judge, columns):
            return "over_share"
        if earlier is not None:
            self._take_back(earlier, columns)
        systems, judge_index = tables.systems.add_all(judgment.systems), tables.judges.add(judge)
        segment = tables.segments.add(judgment.segment)
        categories = self._state.number_categories(judgment.tags)
        columns.append(offset, judgment, systems=systems, judge=judge_index, segment=segment, categories=categories)
        if match:
            self._votes.add(match, self._make_vote(judgment, judge_index, segment, systems, categories))
        self._end_admission(judgment, judge, when, flagged=flagged)
        return None

    def _end_admission(self, judgment: Judgment, judge: str, when: datetime, *, flagged: bool) -> None:
        """Count a judgment in its minute, and end the match request that it answers."""
        if self.status.settings.judge_per_minute is not None:
            self.tables.paces.count(judge, when, flagged=flagged)
        self.outstanding.pop(judgment.request or "", None)
        if self.status.settings.requests_only:
            self._seen.add(answer_key(judgment.request or ""))

    def _gold_items(self) -> GoldItems:
        if self._gold.items is not self.status.settings.gold:
            self._gold = GoldItems(self.status.settings.gold)
        return self._gold

    def _check_judge(self, offset: int, judge: str, *, passed: bool) -> None:
        """Count the answer to a gold item. Exclude the judge if their pass rate is surely below the threshold."""
        tally = self._state.count_gold(judge, passed=passed)
        threshold = self.status.settings.gold_threshold
        if threshold is not None and not passed and tally.bounds()[1] < threshold:
            excluded = (*self.status.excluded, judge)
            self.status = msgspec.structs.replace(self.status, excluded=excluded, offset=offset, command=None)

    def _is_over_share(self, judge: str, columns: Columns) -> bool:
        """Return whether one more judgment would give a judge more than the largest share."""
        share = self.status.settings.judge_share
        if share is None or (index := self.tables.judges.index.get(judge)) is None:
            return False
        counted = self.tables.judge_judgments
        own = (int(counted[index]) if index < len(counted) else 0) + columns.by_judge[index]
        return is_over_share(own, self.counts.judgments + len(columns.offsets), share=share)

    def _make_vote(
        self, judgment: Judgment, judge: int, segment: int, systems: list[int], categories: tuple[int, ...]
    ) -> Vote:
        """Return what is kept of a judgment. Only one that may be taken back is kept whole."""
        if self.status.settings.repeat_votes == "first":
            return Vote(judge=judge)
        key, ranks = crc32(judgment.id.encode()), judgment.ranks or ()
        return Vote(judge=judge, segment=segment, systems=tuple(systems), ranks=ranks, key=key, categories=categories)

    def _take_back(self, vote: Vote, columns: Columns) -> None:
        """Take an earlier vote out of the counts, because a newer one replaces it. The online ratings keep it."""
        self._rate(columns.drain())  # the earlier vote may be among them
        self._state.take_back(vote)
        self._count(judgments=-1, repeated=1)

    def _rate(self, admitted: Admitted) -> None:
        if len(admitted.offsets):
            self._state.rate(admitted)
            self._count(judgments=len(admitted.offsets))

    def _count(self, **more: int) -> None:
        self.counts = msgspec.structs.replace(self.counts, **{n: getattr(self.counts, n) + more[n] for n in more})

    def _pseudonym(self, judge: str) -> str:
        pseudonyms = self._options.pseudonyms
        return judge if pseudonyms is None else pseudonyms[judge]
