"""What may happen to a campaign, from no judgment at all to some hundreds, each as a few steps."""

from __future__ import annotations

from collections.abc import Callable

from streams.wire.events import AddSystem, Change, Close, ExcludeJudge, Pause, Resume, Retract, WithdrawSystem
from tests.product.run import Run, all_equal, first_wins
from tests.product.variants import SYSTEMS

Scenario = Callable[[Run], None]


def no_system(run: Run) -> None:
    run.create(systems=())


def no_judgment(run: Run) -> None:
    run.create()


def one_judgment(run: Run) -> None:
    run.create()
    run.judge(1)


def few_judgments(run: Run) -> None:
    run.create()
    run.judge(5)
    run.answer()


def many_judgments(run: Run) -> None:
    run.create()
    for _ in range(2):
        run.judge(80)
        run.answer(rounds=3)


def any_system(run: Run) -> None:
    run.create(systems=())
    run.judge(6, SYSTEMS[:2])
    run.judge(20, SYSTEMS)
    run.answer(rounds=2)


def judgments_without_baseline(run: Run) -> None:
    """Judge systems without the first, which is the baseline if there is one. They can't be rated then."""
    run.create()
    run.judge(6)
    kept = list(run.judged)
    run.judge(4, SYSTEMS[1:], with_baseline=False)
    if run.case.variant.settings.baseline:
        run.judged, run.expected = kept, {"without_baseline"}


def one_system(run: Run) -> None:
    run.create(systems=SYSTEMS[:1])
    if run.scored:
        run.judge(5)
    run.answer(rounds=2)


def two_systems(run: Run) -> None:
    run.create(systems=SYSTEMS[:2])
    run.judge(5)
    run.answer(rounds=4)


def ties_only(run: Run) -> None:
    run.verdict = all_equal
    run.create()
    run.judge(20)
    run.answer(rounds=3)


def one_always_wins(run: Run) -> None:
    run.verdict = first_wins
    run.create()
    run.judge(100)
    run.answer(rounds=3)
    assert run.campaign.leaderboard().rows[0].system == SYSTEMS[1]


def one_judge(run: Run) -> None:
    run.judges = ("ann",)
    run.create()
    run.judge(20)
    run.answer(rounds=3)


def withdrawn_system(run: Run) -> None:
    run.create()
    run.judge(20)
    run.answer()
    run.command(WithdrawSystem, system=SYSTEMS[3])
    run.answer(rounds=3)
    run.judge(5)
    run.command(AddSystem, system=SYSTEMS[3])
    run.answer(rounds=2)


def all_but_one_withdrawn(run: Run) -> None:
    run.create()
    run.judge(20)
    for system in SYSTEMS[1:]:
        run.command(WithdrawSystem, system=system)
    run.judge(5)
    run.answer(rounds=2)


def withdrawn_baseline(run: Run) -> None:
    """Withdraw the first system, which is the baseline if there is one. A campaign may refuse that."""
    run.create()
    run.judge(20)
    run.answer()
    run.expected = {"refused_command"} if run.case.variant.settings.baseline else set()
    run.command(WithdrawSystem, system=SYSTEMS[0])
    run.judge(5)
    run.answer(rounds=2)


def added_system(run: Run) -> None:
    run.create(systems=SYSTEMS[:3])
    run.judge(15)
    run.answer(rounds=2)
    run.command(AddSystem, system=SYSTEMS[5])
    run.answer(rounds=8)
    judged = {row.system: row.judgments for row in run.campaign.leaderboard().rows}
    assert judged[SYSTEMS[5]] > 0 or not is_asked(run)


def excluded_and_retracted_judge(run: Run) -> None:
    run.create()
    run.judge(20)
    run.answer()
    run.command(ExcludeJudge, judge="ben")
    run.command(Retract, judge="ben")
    run.judges = ("ann", "cleo")
    run.answer(rounds=2)
    run.judged = [judgment for judgment in run.judged if judgment.judge != "ben"]
    assert run.campaign.counts.judgments == len(run.judged)


def all_retracted(run: Run) -> None:
    run.judges = ("ben",)
    run.create()
    run.judge(10)
    run.command(Retract, judge="ben")
    run.judged = []


def unlisted_systems_retracted(run: Run) -> None:
    """Retract the only judgments of systems that nobody listed, while there are requests for them."""
    run.judges = ("ben",)
    run.create(systems=())
    run.judge(10, SYSTEMS)
    run.command(Retract, judge="ben")
    run.judged = []
    run.judges = ("ann",)
    run.judge(3, SYSTEMS[:3])
    run.command(Change, settings={"outstanding": 10})


def spent_budget(run: Run) -> None:
    run.create()
    run.judge(10)
    if run.campaign.status.settings.budget is None:
        run.command(Change, settings={"budget": 20})
    run.answer(rounds=4)


def paused(run: Run) -> None:
    run.create()
    run.judge(10)
    run.command(Pause)
    before = run.campaign.counts.judgments
    run.requests()
    run.judge(10)
    assert run.campaign.counts.judgments == before + 10
    assert run.requests() == []
    run.command(Resume)
    run.answer(rounds=2)
    run.command(Pause)


def closed(run: Run) -> None:
    run.create()
    run.judge(10)
    run.answer()
    run.command(Close)
    kept = list(run.judged)
    run.expected = {"campaign_closed"}
    run.requests()
    run.judge(3)
    run.judged = kept
    assert run.requests() == []


def is_asked(run: Run) -> bool:
    """Return whether the campaign asks for judgments now."""
    return bool(run.campaign.outstanding)


SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario
    for scenario in (
        no_system,
        no_judgment,
        one_judgment,
        few_judgments,
        many_judgments,
        any_system,
        judgments_without_baseline,
        one_system,
        two_systems,
        ties_only,
        one_always_wins,
        one_judge,
        withdrawn_system,
        all_but_one_withdrawn,
        withdrawn_baseline,
        added_system,
        excluded_and_retracted_judge,
        all_retracted,
        unlisted_systems_retracted,
        spent_budget,
        paused,
        closed,
    )
}
