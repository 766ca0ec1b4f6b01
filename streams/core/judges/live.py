"""What the sums of a running campaign say about its judges: whom to check. The exact tests need the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.judges.alarm import favoured_systems
from streams.core.judges.cautions import favoured_caution, one_judge
from streams.core.judges.judge_tests import FEWEST_JUDGES, FEWEST_UNITS, run_tests
from streams.core.judges.position import position_bias
from streams.core.judges.power import power_of
from streams.core.judges.prediction import RARE
from streams.core.judges.residuals import Residuals, Sums
from streams.core.kernels.residuals import SCALE
from streams.core.ranking.cautions import caution

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from streams.core.judges.alarm import FavouredSystem
    from streams.core.judges.judge_tests import Bools, FailedTest
    from streams.core.judges.position import PositionBias
    from streams.core.judges.power import DetectionPower
    from streams.core.judges.votes import Floats, Ints
    from streams.wire.leaderboard import Caution

_NO_NUMBERS, _NO_INDICES = np.zeros(0), np.zeros(0, np.int64)
_NO_SUMS = Sums(total=_NO_NUMBERS, variance=_NO_NUMBERS, skew=_NO_NUMBERS)
NOBODY = Residuals(
    judge=_NO_INDICES,
    units=_NO_NUMBERS,
    squares=_NO_NUMBERS,
    agreement=_NO_SUMS,
    position=_NO_SUMS,
    ties=_NO_SUMS,
    tie_share=_NO_NUMBERS,
    cell_judge=_NO_INDICES,
    cell_system=_NO_INDICES,
    cell_units=_NO_NUMBERS,
    favour=_NO_SUMS,
    own_favour=_NO_SUMS,
)


@dataclass(frozen=True, kw_only=True)
class LiveFlag:
    """Why a judge of a running campaign is flagged: a sentence, and the system that it is about."""

    message: str
    system: str | None


@dataclass(frozen=True, kw_only=True)
class LiveResiduals:
    """The residuals of the judges who have enough votes, against the predictions at the time of each vote."""

    systems: Sequence[str]
    judges: Sequence[str]
    judgments: Ints  # of each judge, without those that were taken back
    units: Floats  # weight of the votes of each judge, also of those with few
    residuals: Residuals
    # Of all judges, as `position_bias` takes them.
    first: Floats
    later: Floats
    position: Floats

    def flags(self) -> dict[str, tuple[LiveFlag, ...]]:
        """Return why judges are flagged, the strongest reason first, by judge. Most judges are not there."""
        found: dict[str, list[LiveFlag]] = {}
        if not len(self.residuals.judge):
            return {}
        tests = run_tests(self.residuals, np.ones(len(self.judges), np.bool_))
        for failed in sorted(tests, key=lambda each: -each.strength):
            system = self.systems[failed.system] if failed.system >= 0 else None
            flag = LiveFlag(message=self._message(failed, system), system=system)
            found.setdefault(self.judges[failed.judge], []).append(flag)
        return {judge: tuple(each) for judge, each in found.items()}

    def alarms(self) -> tuple[FavouredSystem, ...]:
        """Return the systems that more judges favour or oppose than chance allows, without those who are flagged."""
        return favoured_systems(self.systems, self.residuals, self._without(self.flags()))

    def position_bias(self) -> PositionBias | None:
        """Return the bias by position of the judges who are not flagged."""
        return self._bias(self._without(self.flags()))

    def power(self) -> DetectionPower:
        """Return what the tests can find."""
        return power_of(self.residuals, self.units[self.units > 0.0])

    def _bias(self, counted: Bools) -> PositionBias | None:
        known = counted[: len(self.position)]
        if known.all():
            return position_bias(self.first, self.later, self.position)
        return position_bias(self.first[known], self.later[known], self.position[known])

    def _without(self, flagged: Collection[str]) -> Bools:
        if not flagged:
            return np.ones(len(self.judges), np.bool_)
        return ~np.isin(np.array(self.judges), list(flagged))

    def cautions(self) -> tuple[Caution, ...]:
        """Return what a reader of the leaderboard should know about the judges."""
        flags, found = self.flags(), []
        if total := int(self.judgments.sum()):
            most = int(np.argmax(self.judgments))
            share, active = int(self.judgments[most]) / total, int(np.count_nonzero(self.judgments))
            found += one_judge(self.judges[most], share, judges=active)
        counted = self._without(flags)
        if (bias := self._bias(counted)) is not None:
            found += bias.cautions()
        if len(self.residuals.judge) and (alarms := favoured_systems(self.systems, self.residuals, counted)):
            found.append(favoured_caution(alarms))
        if flags:
            judge, reasons = next(iter(flags.items()))
            who = "1 judge is flagged" if len(flags) == 1 else f"{len(flags)} judges are flagged"
            found.append(caution("flagged_judges", f"{who}. For example, {judge}: {reasons[0].message}."))
        return tuple(found)

    def _message(self, failed: FailedTest, system: str | None) -> str:
        found = self.residuals
        if system is not None:
            cell = (found.cell_judge == failed.judge) & (found.cell_system == failed.system)
            more, votes = float(found.favour.total[cell][0]), float(found.cell_units[cell][0])
            way = f"{'for' if more > 0 else 'against'} {system}"
        else:
            place = int(np.flatnonzero(found.judge == failed.judge)[0])
            votes = float(found.units[place])
            if failed.kind in ("ties", "often_ties"):
                more, way = 2.0 * float(found.ties.total[place]), "for a tie"
            elif failed.kind == "disagrees":
                return f"{votes:.0f} votes follow the order of the systems less than those of the other judges do"
            else:
                more = float(found.position.total[place])
                way = f"for the output shown {'first' if more > 0 else 'later'}"
        return f"about {abs(more) / 2.0:.0f} of {votes:.0f} votes more {way} than the votes before predict"


def judges_to_test(by_judge: Ints) -> Ints:
    """Return the judges who have enough votes, by index, or nobody if they are too few to compare.

    The columns of the stored sums are those of kernels/residuals.py.
    """
    enough = np.flatnonzero(by_judge[:, 0] / SCALE >= FEWEST_UNITS)
    return enough if len(enough) >= FEWEST_JUDGES else enough[:0]


def live_residuals(
    systems: Sequence[str], judges: Sequence[str], *, judgments: Ints, by_judge: Ints, residuals: Residuals | None
) -> LiveResiduals:
    """Return the residuals of the judges to test, or of nobody, with the stored sums of all judges."""
    sums = by_judge / SCALE
    return LiveResiduals(
        systems=systems,
        judges=judges,
        judgments=judgments,
        units=sums[:, 0],
        residuals=NOBODY if residuals is None else residuals,
        first=sums[:, 7],
        later=sums[:, 8],
        position=sums[:, 3],
    )


def stored_residuals(chosen: Ints, by_judge: Ints, *, cell_judge: Ints, cell_system: Ints, by_cell: Ints) -> Residuals:
    """Return the residuals of some judges from the stored sums. A cell is a judge and a system, in order of the two."""
    sums, cells = by_judge / SCALE, by_cell / SCALE
    inside = np.isin(cell_judge, chosen)
    cell_judge, cell_system, cells = cell_judge[inside], cell_system[inside], cells[inside]
    own_sums = sums[chosen]
    agreement = np.maximum(sums[cell_judge, 2], RARE)
    slope = cells[:, 2] / agreement
    own = cells[:, 0] - slope * sums[cell_judge, 1]
    left = np.maximum(cells[:, 1] - slope**2 * agreement, 0.1 * cells[:, 1])
    return Residuals(
        judge=chosen,
        units=own_sums[:, 0],
        squares=own_sums[:, 9],
        agreement=_sums(own_sums[:, 1], own_sums[:, 2]),
        position=_sums(own_sums[:, 3], own_sums[:, 4]),
        ties=_sums(own_sums[:, 5], own_sums[:, 6]),
        tie_share=_tied(own_sums) / np.maximum(own_sums[:, 0], RARE),
        cell_judge=cell_judge,
        cell_system=cell_system,
        cell_units=cells[:, 3],
        favour=_sums(cells[:, 0], cells[:, 1]),
        own_favour=_sums(own, left),
    )


def estimate_later_sums(sums: Sequence[int]) -> list[int]:
    """Return estimates of the sums of a judge that an earlier version did not keep, from those that it did.

    The positions are as if each system had been shown first equally often. The squares are too small: they are weighted
    with the variance of the vote, which is below 1.
    """
    decided = sums[0] - round(float(_tied(np.array([sums], np.float64))[0]))
    later = max((decided - sums[3]) // 2, 0)
    return [max(decided - later, 0), later, sums[2]]


def _tied(sums: Floats) -> Floats:
    """Return the weight of each judge's ties. The share p that is predicted follows from p (1 - p)."""
    units, variance = sums[:, 0], np.maximum(sums[:, 6], RARE)
    expected = 0.5 * (units - np.sqrt(np.maximum(units**2 - 4.0 * units * variance, 0.0)))
    tied: Floats = expected + sums[:, 5]
    return tied


def _sums(total: Floats, variance: Floats) -> Sums:
    return Sums(total=total, variance=np.maximum(variance, RARE), skew=np.zeros(len(total)))
