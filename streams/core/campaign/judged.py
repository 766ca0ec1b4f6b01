"""The judgments of a campaign: each is admitted and rated, left out and counted, or rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from streams.core.campaign import bulk
from streams.core.campaign.admission import check_judgment, check_pace, check_room, check_systems, is_over_share
from streams.core.campaign.changing import ChangingCampaign
from streams.core.campaign.columns import category_columns
from streams.core.campaign.gold import GoldItems, passes
from streams.core.campaign.pace import pace_time
from streams.core.campaign.recent_votes import match_key
from streams.core.campaign.request_ids import already_answered, answer_key, check_request
from streams.wire.scanner import JudgmentColumns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from streams.core.campaign.changing import ChangedVerdict
    from streams.core.campaign.columns import Admitted, Columns
    from streams.wire.events import Command, Judgment

    # Why a judgment is not rated, as it is counted.
    LeftOut = Literal["retracted", "suspended", "taken_back", "repeated", "over_share", "gold", "of_others"]


class JudgedCampaign(ChangingCampaign):
    """A campaign to which judgments are applied."""

    _gold = GoldItems(())  # as of the settings that were last looked at

    def _admit_all(self, offsets: Sequence[int], events: Sequence[Judgment | Command]) -> Admitted | None:
        """Admit a batch of ordinary judgments at once. Return None, with nothing changed, for any other batch."""
        if not self._may_admit(offsets):
            return None
        if isinstance(events, JudgmentColumns) and self.categories is None:  # columns have no tags
            return self._admit_columns(offsets, events)
        return self._admit_judgments(offsets, events)

    def _may_admit(self, offsets: Sequence[int]) -> bool:
        """Return whether records may be admitted at once, if all of them are ordinary judgments."""
        if not len(offsets) or offsets[0] <= self.offset or self._options.only_judge is not None:
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
            left_out=self._left_out_ids(),
            pseudonyms=self._options.pseudonyms,
            clock=self.clock,
        )
        if found is None:
            return None
        self.offset, self.clock = offsets[-1], max(self.clock, found.latest)
        self._seen.add_all(found.ids)
        for request in found.answered:
            self.outstanding.pop(request, None)
        admitted = found.admitted(
            offsets,
            judges=tables.judges.add_all(found.judges),
            segments=tables.segments.add_all(found.segments),
            categories=category_columns([self._state.number_categories(tags) for tags in found.tags]),
        )
        if self._remembers:
            self._remember_all(found.ids, admitted)
        return admitted

    def _admit_columns(self, offsets: Sequence[int], columns: JudgmentColumns) -> Admitted | None:
        tables = self._state.tables
        found = bulk.check_columns(
            columns,
            status=self.status,
            tables=tables,
            retractions=self.retractions,
            left_out=self._left_out_ids(),
            pseudonyms=self._options.pseudonyms,
            clock=self.clock,
        )
        if found is None or not self._seen.add_scanned(columns):
            return None
        self.offset, self.clock = int(offsets[-1]), max(self.clock, columns.latest_time)
        for request in found.answered:
            self.outstanding.pop(request, None)
        admitted = found.admitted(
            offsets,
            judges=tables.judges.add_numbered(found.judges),
            segments=tables.segments.add_numbered(found.segments),
        )
        if self._remembers:
            self._remember_all(columns.ids(), admitted)
        return admitted

    def _left_out_ids(self) -> frozenset[str]:
        """Return the ids of judgments that may be left out, each of which needs a check of its own."""
        return self.retractions.all_ids.union(*self.verdicts.waiting.values())

    def _apply_judgment(
        self, offset: int, judgment: Judgment, columns: Columns, *, written_at: float | None = None
    ) -> None:
        """Admit a new judgment or leave it out, or raise before anything is rated.

        The broker wrote it at Unix time `written_at`, if that is known.
        """
        judge = self._pseudonym(judgment.judge)
        if judgment.replaces is not None and self.exists:  # also if it is rejected: a rerun may leave it out instead
            self.verdicts = self.verdicts.begin()
        if judgment.replaces is not None and self.changes is not None:
            self.changes.check(judgment.replaces, judge)
        left_out: LeftOut | None = self.retractions.find_reason(judgment, judge, offset)
        if self._options.only_judge not in (None, judge):
            left_out = "of_others"
        if not self.exists or left_out is None:  # one that is left out may have opened the campaign when it came
            check_judgment(
                judgment,
                judge,
                status=self.status,
                model=self.model,
                create_unknown=self._options.create_unknown,
            )
        replaced = self._find_replaced(judgment, judge, offset, admitted=left_out is None)
        if left_out is None and self._came_late(judgment, judge):
            left_out = "taken_back"
        if left_out is None:
            left_out = self._admit(offset, judgment, judge, columns, written_at, replaced)
        elif judgment.replaces is not None:
            self._change(replaced if left_out not in ("suspended", "of_others") else None, offset, columns)
        if left_out is not None and left_out != "of_others":
            self._count(**{left_out: 1})
            self._remember_left_out(judgment, judge)
        elif left_out is not None and self.verdicts.begun:  # others' verdicts are remembered as by a worker
            self._remember_left_out(judgment, judge)
        self._seen.add(judgment.id)
        if self.changes is not None:
            self.changes.add(judgment, judge, offset, replaced=self.retractions.all_ids)
        if not self.exists:
            self.status = msgspec.structs.replace(self.status, offset=offset)

    def _admit(
        self,
        offset: int,
        judgment: Judgment,
        judge: str,
        columns: Columns,
        written_at: float | None,
        replaced: ChangedVerdict | None,
    ) -> LeftOut | None:
        """Admit a judgment. Return why it is left out if a defence of the campaign says so.

        The verdict that it replaces does not count in either case.
        """
        tables, settings = self.tables, self.status.settings
        answers = settings.requests_only and not self._is_changed_answer(judgment, replaced)
        if answers:
            check_request(judgment, key=self._options.request_key, clock=self.clock)
            if answer_key(judgment.request or "") in self._seen:
                raise already_answered(judgment)
        check_room(judge, known=tables.judges, campaign=self.name)
        when = pace_time(judgment, written_at, clock=settings.pace_clock)
        flagged = check_pace(judge, when, settings=settings, paces=tables.paces)
        item = self._gold_items().find(judgment)
        if item is None:
            known = tables.systems.index
            check_systems(judgment.systems, known=known, status=self.status, required=self.required_system)
        if judgment.replaces is not None:
            self._change(replaced, offset, columns)
        if item is not None:
            self._check_judge(offset, judge, passed=passes(judgment, item))
            self._end_admission(judgment, judge, when, flagged=flagged, answers=answers)
            return "gold"
        match = b"" if settings.repeat_votes == "all" else match_key(judge, judgment.segment, judgment.systems)
        earlier = self._votes.find(match) if match else None
        if earlier is not None and settings.repeat_votes == "first":
            return "repeated"
        adds_one = earlier is None and (replaced is None or not replaced.counts)
        if adds_one and self._is_over_share(judge, columns):
            return "over_share"
        if earlier is not None:
            self._take_back(earlier, columns, counted="repeated")
        systems, judge_index = tables.systems.add_all(judgment.systems), tables.judges.add(judge)
        segment = tables.segments.add(judgment.segment)
        categories = self._state.number_categories(judgment.tags)
        columns.append(offset, judgment, systems=systems, judge=judge_index, segment=segment, categories=categories)
        if match or self._remembers:
            self._votes.add(match, self._make_vote(judgment, judge_index, segment, systems, categories))
        self._end_admission(judgment, judge, when, flagged=flagged, answers=answers)
        return None

    def _end_admission(self, judgment: Judgment, judge: str, when: datetime, *, flagged: bool, answers: bool) -> None:
        """Count a judgment in its minute, and end the match request that it answers."""
        if self.status.settings.judge_per_minute is not None:
            self.tables.paces.count(judge, when, flagged=flagged)
        self.outstanding.pop(judgment.request or "", None)
        if answers:
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

    def _pseudonym(self, judge: str) -> str:
        pseudonyms = self._options.pseudonyms
        return judge if pseudonyms is None else pseudonyms[judge]
