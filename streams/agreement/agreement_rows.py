"""Agreement in whole logs, as rows: by campaign, by source of the judgments, and by judge."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import msgspec
import numpy as np
from msgspec import Struct

from streams.agreement.agreement import (
    Agreement,
    SegmentSums,
    inter_agreement,
    inter_by_judge,
    intra_agreement,
    intra_by_judge,
    published_agreement,
    strength_of,
)
from streams.agreement.alpha import item_segments, outcome_alpha
from streams.agreement.fleiss import fleiss_kappa_of_outcomes, outcome_counts
from streams.core.methods.pairs import Pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from streams.agreement.control_rows import Controls
    from streams.core.models.base import Ints
    from streams.wire.events import Judgment

    Shared = Mapping[str, tuple[tuple[str, ...], ...]]

Kind = Literal["inter", "intra"]
Rule = Literal["wmt", "strict"]
RULES: tuple[Rule, ...] = get_args(Rule)


class OutcomeItems(NamedTuple):
    """How many judges chose each outcome, for every two systems on a segment, and the segment of each item."""

    counts: Ints
    segments: Ints

    @classmethod
    def join(cls, parts: Sequence[OutcomeItems]) -> OutcomeItems:
        """Return the items of several campaigns, whose segments differ."""
        offsets = np.cumsum([0, *(int(part.segments.max(initial=-1)) + 1 for part in parts)])
        segments = [part.segments + offset for part, offset in zip(parts, offsets, strict=False)]
        return cls(np.concatenate([part.counts for part in parts]), np.concatenate(segments))


class AgreementRow(Struct, frozen=True, kw_only=True):
    """One measurement of agreement. Campaign None is all campaigns. Judges are those of one source; None is all.

    `kappa_low` and `kappa_high` are a 95 % interval for other segments. `strength` is the word of Landis and Koch for
    kappa. Fleiss' kappa is of `fleiss_items` items with two judges or more, and so is Krippendorff's `alpha` with its
    95 % bounds; both exist for inter-annotator agreement only.
    """

    campaign: str | None
    judges: str | None
    collapsed: bool
    kind: Kind
    agree: int
    comparable: int
    p_agree: float | None
    p_chance: float | None
    kappa: float | None
    ties: int
    total: int
    strength: str | None = None
    fleiss_kappa: float | None = None
    fleiss_items: int | None = None
    alpha: float | None = None
    alpha_low: float | None = None
    alpha_high: float | None = None
    kappa_low: float | None = None
    kappa_high: float | None = None

    @classmethod
    def of(
        cls,
        found: Agreement,
        *,
        campaign: str | None,
        judges: str | None,
        collapsed: bool,
        kind: Kind,
        items: OutcomeItems | None = None,
    ) -> AgreementRow:
        """Return the row of these counts. `items` are the outcomes by item, for Fleiss' kappa and alpha."""
        alpha = None if items is None else outcome_alpha(items.counts, items.segments)
        return cls(
            campaign=campaign,
            judges=judges,
            collapsed=collapsed,
            kind=kind,
            agree=found.agree,
            comparable=found.comparable,
            p_agree=none_if_nan(found.observed),
            p_chance=none_if_nan(found.chance),
            kappa=none_if_nan(found.kappa),
            ties=found.ties,
            total=found.total,
            strength=None if isnan(found.kappa) else strength_of(found.kappa),
            fleiss_kappa=None if items is None else none_if_nan(fleiss_kappa_of_outcomes(items.counts)),
            fleiss_items=None if items is None else int((items.counts.sum(axis=1) > 1).sum()),
            alpha=None if alpha is None else none_if_nan(alpha.value),
            alpha_low=None if alpha is None else none_if_nan(alpha.low),
            alpha_high=None if alpha is None else none_if_nan(alpha.high),
            kappa_low=none_if_nan(found.interval[0]),
            kappa_high=none_if_nan(found.interval[1]),
        )


class JudgeAgreementRow(Struct, frozen=True, kw_only=True):
    """The agreement of one judge with other judges and with themselves, and the result on controls, if there is one."""

    campaign: str
    judge: str
    source: str | None
    comparisons: int
    inter_comparable: int
    inter_kappa: float | None
    intra_comparable: int
    intra_kappa: float | None
    controls: int | None = None
    passed: int | None = None
    rejected: bool | None = None


def collapse_shared_outputs(log: Iterable[Judgment], shared: Shared) -> Iterator[Judgment]:
    """Yield the rankings as the judges saw them: systems that shared an output become one.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b", "c"), ranks=(1, 1, 2),
    ...                    at=EPOCH)
    >>> [one.systems for one in collapse_shared_outputs([verdict], {"1": (("b", "a"), ("c",))})]
    [('a+b', 'c')]
    """
    for judgment in log:
        outputs = shared.get(judgment.id)
        if outputs is None:
            yield judgment
        else:
            ranks = dict(zip(judgment.systems, judgment.ranks or (), strict=True))
            yield msgspec.structs.replace(
                judgment,
                systems=tuple("+".join(sorted(names)) for names in outputs),
                ranks=tuple(ranks[names[0]] for names in outputs),
            )


def agreement_rows(logs: Mapping[str, Sequence[Judgment]], shared: Shared, *, rule: Rule = "wmt") -> list[AgreementRow]:
    """Return inter- and intra-annotator agreement by campaign, for all judges and by their source.

    The rule `wmt` counts as the findings of WMT15 do. The rule `strict` does not compare judges with themselves and
    ignores the order in which outputs were shown. With several campaigns, their counts are also added up.

    >>> agreement_rows({}, {})
    []
    """
    rows: list[AgreementRow] = []
    for whole in (True, False):
        sums: dict[str | None, list[tuple[Agreement, Agreement, OutcomeItems]]] = {}
        for campaign in sorted(logs):
            log = list(collapse_shared_outputs(logs[campaign], shared)) if whole else logs[campaign]
            for judges in (None, *judge_sources(log)):
                measured = _measure(Pairs.of(one for one in log if judges in (None, one.source)), rule)
                sums.setdefault(judges, []).append(measured)
                rows += _rows(campaign, judges, *measured, whole=whole)
        for judges, found in sums.items() if len(logs) > 1 else ():
            inter, intra, items = zip(*found, strict=True)
            rows += _rows(None, judges, _sum(inter), _sum(intra), OutcomeItems.join(items), whole=whole)
    return rows


def judge_sources(log: Iterable[Judgment]) -> tuple[str, ...]:
    """Return the sources of the judgments, if there are several."""
    found = {judgment.source for judgment in log if judgment.source}
    return tuple(sorted(found)) if len(found) > 1 else ()


def judge_rows(
    logs: Mapping[str, Sequence[Judgment]], shared: Shared, *, controls: Controls | None = None
) -> list[JudgeAgreementRow]:
    """Compare every judge with the others and with themselves. The lowest agreement of a campaign comes first.

    >>> judge_rows({}, {})
    []
    """
    rows = []
    for campaign in sorted(logs):
        log = list(collapse_shared_outputs(logs[campaign], shared))
        pairs, source = Pairs.of(log), {judgment.judge: judgment.source for judgment in log}
        count = np.bincount(pairs.judge, minlength=len(pairs.judges))
        records = controls.records(log, campaign=campaign) if controls else {}
        found = [
            JudgeAgreementRow(
                campaign=campaign,
                judge=judge,
                source=source[judge],
                comparisons=int(count[k]),
                inter_comparable=inter.comparable,
                inter_kappa=none_if_nan(inter.kappa),
                intra_comparable=intra.comparable,
                intra_kappa=none_if_nan(intra.kappa),
                **records.get(judge, {}),
            )
            for k, (judge, inter, intra) in enumerate(
                zip(pairs.judges, inter_by_judge(pairs), intra_by_judge(pairs), strict=True)
            )
        ]
        rows += sorted(found, key=lambda row: (row.inter_kappa is None, row.inter_kappa, row.judge))
    return rows


def _measure(pairs: Pairs, rule: Rule) -> tuple[Agreement, Agreement, OutcomeItems]:
    """Return inter- and intra-annotator agreement, and the outcomes by item. The rule changes only the first two."""
    inter, intra = published_agreement(pairs) if rule == "wmt" else (inter_agreement(pairs), intra_agreement(pairs))
    if inter.comparable and not inter_agreement(pairs).comparable:  # only of judges with themselves, by the rule `wmt`
        inter = Agreement(agree=0, comparable=0, ties=inter.ties, total=inter.total)
    return inter, intra, OutcomeItems(outcome_counts(pairs), item_segments(pairs))


def _sum(found: Iterable[Agreement]) -> Agreement:
    several = list(found)
    counts = np.array([(one.agree, one.comparable, one.ties, one.total) for one in several]).sum(axis=0).tolist()
    by_segment = sum((one.by_segment for one in several), start=SegmentSums())
    return Agreement(**dict(zip(("agree", "comparable", "ties", "total"), counts, strict=True)), by_segment=by_segment)


def _rows(
    campaign: str | None, judges: str | None, inter: Agreement, intra: Agreement, items: OutcomeItems, *, whole: bool
) -> Iterator[AgreementRow]:
    yield AgreementRow.of(inter, campaign=campaign, judges=judges, collapsed=whole, kind="inter", items=items)
    yield AgreementRow.of(intra, campaign=campaign, judges=judges, collapsed=whole, kind="intra")


def none_if_nan(value: float) -> float | None:
    """Return the number, or None if it is NaN."""
    return None if isnan(value) else value
