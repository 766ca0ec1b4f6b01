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
        return position_bias(self.first[known], self.later[known], self.position[known])

    def _without(self, flagged: Collection[str]) -> Bools:
        return ~np.isin(np.array(self.judges), list(flagged))

    def cautions(self) -> tuple[Caution, ...]:
        """Return what a reader of the leaderboard should know about the judges."""
        flags, found = self.flags(), []
        share = self.units.max(initial=0.0) / max(float(self.units.sum()), RARE)
        if len(self.units):
            found += one_judge(self.judges[int(np.argmax(self.units))], share, judges=int((self.units > 0.0).sum()))
        counted = self._without(flags)
        if (bias := self._bias(counted)) is not None:
            found += bias.cautions()
        if alarms := favoured_systems(self.systems, self.residuals, counted):
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


def live_residuals(
    systems: Sequence[str],
    judges: Sequence[str],
    *,
    tested: bool,
    by_judge: Ints,
    cell_judge: Ints,
    cell_system: Ints,
    by_cell: Ints,
) -> LiveResiduals:
    """Return the residuals from the stored sums, or of nobody. kernels/residuals.py says what their columns are."""
    sums, cells = by_judge / SCALE, by_cell / SCALE
    enough = np.flatnonzero(sums[:, 0] >= FEWEST_UNITS)
    chosen_judges = enough if tested and len(enough) >= FEWEST_JUDGES else enough[:0]
    inside = np.isin(cell_judge, chosen_judges)
    cell_judge, cell_system, cells = cell_judge[inside], cell_system[inside], cells[inside]
    chosen = sums[chosen_judges]
    agreement = np.maximum(sums[cell_judge, 2], RARE)
    slope = cells[:, 2] / agreement
    own = cells[:, 0] - slope * sums[cell_judge, 1]
    left = np.maximum(cells[:, 1] - slope**2 * agreement, 0.1 * cells[:, 1])
    return LiveResiduals(
        systems=systems,
        judges=judges,
        units=sums[:, 0],
        residuals=Residuals(
            judge=chosen_judges,
            units=chosen[:, 0],
            squares=chosen[:, 9],
            agreement=_sums(chosen[:, 1], chosen[:, 2]),
            position=_sums(chosen[:, 3], chosen[:, 4]),
            ties=_sums(chosen[:, 5], chosen[:, 6]),
            tie_share=_tied(chosen) / np.maximum(chosen[:, 0], RARE),
            cell_judge=cell_judge,
            cell_system=cell_system,
            cell_units=cells[:, 3],
            favour=_sums(cells[:, 0], cells[:, 1]),
            own_favour=_sums(own, left),
        ),
        first=sums[:, 7],
        later=sums[:, 8],
        position=sums[:, 3],
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
