"""Rate a log with both engines of TrueSkill, and compare the ratings and the times."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, cast

import numpy as np
from msgspec import Struct

from streams.core import kernels
from streams.core.campaign.campaign import Campaign
from streams.errors import ParameterError
from streams.wire.events import CampaignSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.models.base import Floats
    from streams.core.models.trueskill import TrueSkill
    from streams.errors import RecordError
    from streams.wire.events import Judgment, Parameter

COMPILED, PACKAGE = ENGINES = ("compiled", "package")


class AuditRow(Struct, frozen=True, kw_only=True):
    """The largest differences between the two engines in one campaign, each with its system.

    `matches` counts what was rated: pairs, or whole rankings as free-for-all. The package could not rate `failed` of
    them, and the kernels rated them in its place.
    """

    campaign: str
    judgments: int
    systems: int
    matches: int
    failed: int
    mean_difference: float
    mean_system: str
    deviation_difference: float
    deviation_system: str
    compiled_seconds: float
    package_seconds: float

    @property
    def difference(self) -> float:
        """Return the larger of the two differences."""
        return max(self.mean_difference, self.deviation_difference)


class Audit:
    """The campaigns of a log, each rated by both engines. The times are CPU times of the whole rating.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> audit = Audit()
    >>> audit.apply([verdict])
    >>> [(row.judgments, row.difference < 1e-12) for row in audit.rows()]
    [(1, True)]
    """

    def __init__(self, parameters: Mapping[str, Parameter] | None = None, *, budget: int | None = None) -> None:
        if parameters and "engine" in parameters:
            raise ParameterError("engine: an audit compares both engines; leave it out")
        self._settings = {
            engine: CampaignSettings(
                parameters={**(parameters or {}), "engine": engine}, budget=budget, outstanding=0, replicas=0
            )
            for engine in ENGINES
        }
        for settings in self._settings.values():  # raise ParameterError now, not after a part of the log is read
            Campaign("audit", settings)
        self._campaigns: dict[str, dict[str, Campaign]] = {}
        self._seconds: dict[tuple[str, str], float] = {}
        self.read = 0
        self.rejections = 0
        self.first_rejection: RecordError | None = None

    def apply(self, judgments: Sequence[Judgment]) -> None:
        """Rate judgments with both engines, in order."""
        if not self.read:
            self._warm_up(judgments)
        parts: dict[str, tuple[list[int], list[Judgment]]] = {}
        for place, judgment in enumerate(judgments, start=self.read):
            offsets, part = parts.setdefault(judgment.campaign, ([], []))
            offsets.append(place)
            part.append(judgment)
        self.read += len(judgments)
        for name, (offsets, part) in parts.items():
            both = self._campaigns.setdefault(
                name, {engine: Campaign(name, settings) for engine, settings in self._settings.items()}
            )
            for engine, campaign in both.items():
                start = process_time()
                rejections = campaign.apply(offsets, part).rejections
                self._seconds[name, engine] = self._seconds.get((name, engine), 0.0) + process_time() - start
                campaign.discard_changes()
            self.rejections += len(rejections)
            self.first_rejection = self.first_rejection or next(iter(rejections.values()), None)

    def _warm_up(self, judgments: Sequence[Judgment]) -> None:
        """Compile and import everything, so that the times do not contain it."""
        kernels.compiled("pairs")
        for settings in self._settings.values():
            for judgment in judgments[:1]:
                Campaign(judgment.campaign, settings).apply([0], [judgment])

    def rows(self) -> list[AuditRow]:
        """Return one row per campaign that has a rated judgment, in order of name."""
        return [
            self._row(name, both)
            for name, both in sorted(self._campaigns.items())
            if both[COMPILED].counts.judgments  # all judgments of a campaign may have been rejected
        ]

    def _row(self, name: str, both: Mapping[str, Campaign]) -> AuditRow:
        compiled, package = both[COMPILED], both[PACKAGE]
        systems = compiled.tables.systems.names
        (mean, mean_system), (deviation, deviation_system) = (
            _largest(np.abs(one - other), systems)
            for one, other in zip(compiled.model.scores(), package.model.scores(), strict=True)
        )
        model = cast("TrueSkill", package.model)
        in_pairs = model.parameters.ways == "pairs"
        judgments = compiled.counts.judgments
        return AuditRow(
            campaign=name,
            judgments=judgments,
            systems=len(systems),
            matches=compiled.tables.pair_counts().comparisons if in_pairs else judgments,
            failed=model.package_failures,
            mean_difference=mean,
            mean_system=mean_system,
            deviation_difference=deviation,
            deviation_system=deviation_system,
            compiled_seconds=self._seconds[name, COMPILED],
            package_seconds=self._seconds[name, PACKAGE],
        )


def _largest(differences: Floats, systems: Sequence[str]) -> tuple[float, str]:
    place = int(np.argmax(differences))
    return float(differences[place]), systems[place]
