"""TrueSkill that also learns which judges answer with care and which answer at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from msgspec import Meta

from streams.core import kernels
from streams.core.kernels.elementary import log2
from streams.core.kernels.normal import tie_moments, win_moments
from streams.core.kernels.pairs import BY_CHANCE
from streams.core.models.base import JudgeFacts, Model, Outcome, Parameters, grown
from streams.core.models.card import ModelCard
from streams.core.models.judge_outcomes import JudgeAnswers
from streams.core.models.trueskill import TrueSkill, TrueSkillParameters
from streams.errors import StoreOutdated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.models.base import Axis, Floats, JudgmentBatch
    from streams.core.models.judge_outcomes import JudgeOutcomes


class ReliableParameters(TrueSkillParameters, frozen=True, kw_only=True):
    """TrueSkill's parameters, and the prior Beta(prior_a, prior_b) of a judge's reliability.

    There is no profile `wmt`, because the official procedure ignores judges. There is no free-for-all, because it would
    count as a single answer of its judge. There is no engine `package`, because the package ignores judges too.
    """

    profile: Annotated[Literal["online"], Meta(description="Source of the parameters that are not given.")] = "online"
    ways: Annotated[Literal["pairs"], Meta(description="A ranking counts as pairs.")] = "pairs"
    engine: Annotated[Literal["compiled"], Meta(description="What computes an update.")] = "compiled"
    prior_a: Annotated[float, Meta(ge=1e-3, le=1e6, description="Prior number of careful answers of a judge.")] = 4.0
    prior_b: Annotated[float, Meta(ge=1e-3, le=1e6, description="Prior number of random answers of a judge.")] = 1.0


class ReliableTrueSkill(TrueSkill):
    """TrueSkill under the mixture r_k P(outcome) + (1 - r_k) / 3, where r_k is the reliability of judge k.

    q = r P / (r P + (1 - r) / 3) is the probability that the judge answered with care. v becomes q v and w becomes
    q (w - (1 - q) v²), at least 0: the moments of the mixture (Minka 2001, assumed-density filtering). The judge's
    Beta(a, b) becomes the Beta with the mean and variance of q Beta(a + 1, b) + (1 - q) Beta(a, b + 1). Adding q to
    a and 1 - q to b would have the same mean, but would treat every outcome as certain evidence about the judge.

    >>> model = ReliableTrueSkill(ReliableParameters())
    >>> model.grow(systems=2, judges=1, segments=0)
    >>> model.judge_facts().reliability.tolist()
    [0.8]
    """

    name: ClassVar[str] = "trueskill-judges"
    ranks_categories: ClassVar[bool] = False  # the weights of judges come from all judgments
    card: ClassVar[ModelCard] = ModelCard(
        assumes="Like trueskill, but each judge answers at random with their own probability.",
        cost="one pass; 0.02 s per 100,000 pairs when compiled; memory for two numbers per system, four per judge",
        choose="For crowds in which some judges answer at random.",
        reference="Herbrich et al. 2006; Minka 2001",
    )
    ranges: ClassVar[tuple[str, ...]] = ("groups",)
    parameters_type: ClassVar[type[Parameters]] = ReliableParameters
    widths: ClassVar[Mapping[Axis, int]] = {"systems": 2, "judges": 4, "segments": 0}
    parameters: ReliableParameters

    def __init__(self, parameters: Parameters, *, budget: int | None = None) -> None:
        super().__init__(parameters, budget=budget)
        self._a: Floats = np.empty(0)
        self._b: Floats = np.empty(0)
        self._judges = 0
        self._answers = JudgeAnswers()

    def grow(self, systems: int, judges: int, segments: int) -> None:
        """Make room for this many systems and judges."""
        super().grow(systems, judges, segments)
        self._a = grown(self._a, judges, self.parameters.prior_a)
        self._b = grown(self._b, judges, self.parameters.prior_b)
        self._judges = max(self._judges, judges)

    def apply(self, batch: JudgmentBatch) -> None:
        """Update with rankings, in order."""
        self._answers.add(batch)
        kernels.suited("mixture", batch.pairs).rate_judged_rankings(
            self._mean,
            self._variance,
            self._margins,
            self._a,
            self._b,
            batch.systems,
            batch.ranks,
            batch.starts,
            batch.judges,
            self.parameters.beta,
        )

    def predict(self, a: int, b: int, *, judge: int | None = None) -> Outcome:
        """Mix the outcomes of a careful judge with chance. Without a judge, predict for a new one."""
        r = self._reliability(judge)
        win, tie, loss = super().predict(a, b, judge=judge)
        chance = (1.0 - r) * BY_CHANCE
        return Outcome(r * win + chance, r * tie + chance, r * loss + chance)

    informations = Model.informations  # one by one

    def information(self, a: int, b: int) -> float:
        """Return how far the two posteriors would narrow after a new judge's answer, averaged over the outcomes."""
        r = self._reliability(None)
        c = self._spread(a, b)
        t, e = float(self._mean[a] - self._mean[b]) / c, self.margin() / c
        moments = (win_moments(t - e), tie_moments(abs(t), e), win_moments(-t - e))
        shares = (float(self._variance[a]) / (c * c), float(self._variance[b]) / (c * c))
        bits = 0.0
        for seen, mixed, (v, w) in zip(super().predict(a, b), self.predict(a, b), moments, strict=True):
            careful = r * seen / mixed
            shrink = max(careful * (w - (1.0 - careful) * v * v), 0.0)
            bits -= 0.5 * mixed * sum(log2(1.0 - share * shrink) for share in shares)
        return bits

    def judge_facts(self) -> JudgeFacts:
        """Return each judge's expected reliability: the share of answers that were given with care."""
        a, b = self._a[: self._judges], self._b[: self._judges]
        return JudgeFacts(reliability=a / (a + b))

    def dump_row(self, axis: Axis, index: int) -> tuple[float, ...]:
        """Return the row of TrueSkill, and of a judge also the a and b of their reliability."""
        row = super().dump_row(axis, index)
        if axis != "judges":
            return row
        return (*row, float(self._a[index]), float(self._b[index]), *self._answers.dump(index))

    def load_row(self, axis: Axis, index: int, row: tuple[float, ...]) -> None:
        """Restore a row."""
        if axis == "judges":
            if len(row) < self.widths["judges"]:
                raise StoreOutdated("an earlier version kept no outcomes of judges")
            row, (self._a[index], self._b[index]), answers = row[:2], row[2:4], row[4:]
            self._answers.load(index, answers)
        super().load_row(axis, index, row)

    def dump_shared(self) -> tuple[float, ...]:
        """Return what TrueSkill keeps, and a 1 if there are too many outcomes to keep."""
        return (*super().dump_shared(), float(self._answers.full))

    def load_shared(self, row: tuple[float, ...]) -> None:
        """Restore it."""
        super().load_shared(row[:-1])
        if row and row[-1]:
            self._answers.drop()

    def judge_outcomes(self) -> JudgeOutcomes | None:
        """Return the outcomes of each judge by pair, or None if there were too many to keep."""
        return self._answers.outcomes()

    def take_back(self, judge: int, systems: Sequence[int], ranks: Sequence[int]) -> None:
        """Subtract a ranking from the outcomes of its judge. The reliability keeps it."""
        self._answers.take_back(judge, systems, ranks)

    def _reliability(self, judge: int | None) -> float:
        own = self.parameters
        a, b = (own.prior_a, own.prior_b) if judge is None else (float(self._a[judge]), float(self._b[judge]))
        return a / (a + b)
