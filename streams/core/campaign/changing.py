"""Changed and revoked verdicts: they are taken out of the counts at once if they are remembered, else they wait.

A judgment K replaces a judgment J of the same judge if `replaces` of K is the id of J, or is the same as that of J.
So a platform may name the first version of a verdict each time, or the one before. J no longer counts, whatever becomes
of K, unless K is rejected. The counts are then as if J had never been made. Only the online ratings, and what is known
of judges from the votes before, keep both.

A campaign remembers its last `repeat_window` judgments from the first change on. An earlier verdict waits: a worker
sends a `retract` for it, and the campaign is rated again without it. What is remembered does not depend on what is left
out, so that a rerun rejects the same judgments.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import msgspec

from streams.core.campaign.columns import Columns
from streams.core.campaign.forgotten_verdicts import MOST_FORGOTTEN
from streams.core.campaign.logged_changes import other_judge
from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.core.campaign.recent_votes import Vote, id_key
from streams.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.columns import Admitted
    from streams.core.models import Model
    from streams.wire.events import Judgment, RevokeVerdicts


class ChangedVerdict(NamedTuple):
    """A verdict that is to be taken back, of a judge or of any (empty), and the votes that are remembered of it."""

    id: str
    judge: str
    votes: tuple[Vote, ...]

    @property
    def counts(self) -> bool:
        """Whether a remembered vote counts."""
        return any(vote.systems for vote in self.votes)


UNKNOWN = -1  # index of a judge of whom no judgment counts


def _is_of(vote: Vote, judge: str, index: int) -> bool:
    """Return whether a vote is of a judge, who has an index if a judgment of them counts."""
    return vote.key == crc32(judge.encode()) if vote.judge == UNKNOWN else vote.judge == index


def can_take_back(model: Model) -> bool:
    """Return whether a judgment can be taken out of what a model ranks: only out of counts."""
    return model.kind != "scores" and not model.takes_baseline


class ChangingCampaign(ReadOnlyCampaign):
    """A campaign whose judges may change and revoke their verdicts."""

    @property
    def _remembers(self) -> bool:
        """Whether new judgments are remembered, so that they can be taken back."""
        is_wanted = self._options.remember_all or (self.verdicts.begun and self._options.remember_verdicts)
        return is_wanted and can_take_back(self.model)

    def _find_replaced(self, judgment: Judgment, judge: str, offset: int, *, admitted: bool) -> ChangedVerdict | None:
        """Return the verdict that a judgment replaces, if it may still count. Raise RecordError if it may not be.

        A judgment that is not `admitted` is left out, and is not rejected any more.
        """
        if judgment.replaces is None or self.retractions.covers(judgment.replaces, judge, offset):
            return None
        try:
            return self._find_verdict(judgment.replaces, judge)
        except RecordError:
            if admitted:
                raise
            return None

    def _find_verdict(self, verdict: str, judge: str) -> ChangedVerdict:
        key = id_key(verdict)
        index = self.tables.judges.index.get(judge, UNKNOWN)
        found = self._votes.find_verdict(key)
        if found is not None and judge and not _is_of(found, judge, index):
            raise other_judge(verdict)
        versions = [vote for vote in self._votes.find_versions(key) if not judge or vote.judge == index]
        votes = (*([] if found is None else [found]), *versions)
        if not votes and len(self.verdicts) >= MOST_FORGOTTEN and self._options.remember_verdicts:
            message = (
                f"{len(self.verdicts):,} changed verdicts of the campaign {self.name!r} wait until it is rated again; "
                "send it again later"
            )
            raise RecordError("too_many_changes", message, field="replaces")
        return ChangedVerdict(verdict, judge, votes)

    def _change(self, changed: ChangedVerdict | None, offset: int, columns: Columns) -> None:
        """Remember verdicts from now on, and take one back, if there is one."""
        self.verdicts = self.verdicts.begin()
        if changed is not None:
            self._withdraw(changed, offset, columns)

    def _withdraw(self, changed: ChangedVerdict, offset: int, columns: Columns) -> None:
        """Take a verdict back. If it is not remembered, it waits."""
        for vote in changed.votes:
            if vote.systems:
                self._take_back(vote, columns, counted="taken_back")
            self._votes.take_out(vote.id)
        if not changed.votes:
            self.verdicts = self.verdicts.added(changed.judge, changed.id, offset)

    def _revoke(self, command: RevokeVerdicts, offset: int) -> None:
        """Take back all verdicts of a command, or raise before anything has changed."""
        judge = command.judge or ""
        ids = [each for each in dict.fromkeys(command.judgments) if not self.retractions.covers(each, judge, offset)]
        found = [self._find_verdict(each, judge) for each in ids]
        self.verdicts = self.verdicts.begin()
        for changed in found:
            self._withdraw(changed, offset, Columns())

    def _forget_votes(self, judge: str) -> None:
        """Forget the votes of a judge, and their verdicts that wait."""
        if (index := self.tables.judges.index.get(judge)) is not None:
            self._votes.forget_judge(index)
        self._votes.forget_judge(UNKNOWN, key=crc32(judge.encode()))
        self.verdicts = self.verdicts.without(judge)

    def _came_late(self, judgment: Judgment, judge: str) -> bool:
        """Return whether a verdict was taken back before it came.

        Then it does not wait any more, unless earlier versions of it may count: only remembered ones were taken back.
        """
        if not self.verdicts.waiting or (name := self.verdicts.find(judgment.id, judge)) is None:
            return False
        if self._remembers:
            self.verdicts = self.verdicts.without(name, judgment.id)
        return True

    def _is_changed_answer(self, judgment: Judgment, replaced: ChangedVerdict | None) -> bool:
        """Return whether a judgment changes a verdict on the same systems and segment, and so needs no new request."""
        if replaced is None or not replaced.counts:
            return False
        tables = self.tables
        systems = {tables.systems.index.get(name, -1) for name in judgment.systems}
        segment = tables.segments.index.get(judgment.segment, tables.segments.shared)
        return any(set(vote.systems) == systems and vote.segment == segment for vote in replaced.votes)

    def _make_vote(
        self, judgment: Judgment, judge: int, segment: int, systems: list[int], categories: tuple[int, ...]
    ) -> Vote:
        """Return what is kept of a judgment. Only one that may be taken back is kept whole."""
        if self.status.settings.repeat_votes == "first" and not self._remembers:
            return Vote(judge=judge)
        key, ranks = crc32(judgment.id.encode()), judgment.ranks or ()
        vote = Vote(judge=judge, segment=segment, systems=tuple(systems), ranks=ranks, key=key, categories=categories)
        if not self._remembers:
            return vote
        names = (judgment.id,) if judgment.replaces is None else (judgment.id, judgment.replaces)
        return msgspec.structs.replace(vote, ids=tuple(map(id_key, names)))

    def _remember_left_out(self, judgment: Judgment, judge: str) -> None:
        """Remember that a judgment does not count, and whose it is, also if no judgment of this judge counts."""
        if self._remembers:
            index = self.tables.judges.index.get(judge, UNKNOWN)
            key = crc32(judge.encode()) if index == UNKNOWN else 0
            self._votes.add(b"", Vote(judge=index, key=key, ids=(id_key(judgment.id),)))

    def _remember_all(self, ids: Sequence[str], admitted: Admitted) -> None:
        """Remember ordinary judgments."""
        batch = admitted.batch
        systems, ranks, starts = batch.systems.tolist(), batch.ranks.tolist(), batch.starts.tolist()
        columns = (batch.judges.tolist(), batch.segments.tolist(), admitted.keys.tolist())
        categories = repeat((), len(ids)) if admitted.categories is None else map(tuple, admitted.categories.tolist())
        for place, (name, judge, segment, key, own) in enumerate(zip(ids, *columns, categories, strict=True)):
            part = slice(starts[place], starts[place + 1])
            vote = Vote(
                judge=judge,
                segment=segment,
                systems=tuple(systems[part]),
                ranks=tuple(ranks[part]),
                key=key,
                categories=own,
                ids=(id_key(name),),
            )
            self._votes.add(b"", vote)

    def _take_back(self, vote: Vote, columns: Columns, *, counted: str) -> None:
        """Take an earlier vote out of the counts. It is `counted` as left out. The online ratings keep it."""
        self._rate(columns.drain())  # the earlier vote may be among them
        self._state.take_back(vote)
        self._count(judgments=-1, **{counted: 1})

    def _rate(self, admitted: Admitted) -> None:
        if len(admitted.offsets):
            self._state.rate(admitted)
            self._count(judgments=len(admitted.offsets))

    def _count(self, **more: int) -> None:
        self.counts = msgspec.structs.replace(self.counts, **{n: getattr(self.counts, n) + more[n] for n in more})
