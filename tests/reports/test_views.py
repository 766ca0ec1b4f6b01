"""Views of a campaign: counts, values of the model, and suspicious judges."""

from __future__ import annotations

import gzip
import re
import shlex
from importlib import import_module
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from streams import rank
from streams.core.campaign.campaign import Campaign
from streams.errors import JudgestreamError
from streams.pipeline.embedded import Embedded
from streams.reports import views
from streams.reports.views import (
    JudgeView,
    campaign_view,
    detection_power,
    judge_views,
    load_campaign,
    pair_views,
    segment_views,
)
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire.events import CampaignSettings, Close, ExcludeJudge, Judgment, WithdrawSystem, encode
from tests.builders import NOON, judgment, unzip
from tests.reports.campaigns import LATER, Running, crowd, opened


def campaign(log: list[Judgment], model: str = "trueskill", **settings: object) -> Campaign:
    chosen = msgspec.convert({"model": model, "outstanding": 0, "replicas": 0, **settings}, CampaignSettings)
    made = Campaign("wmt.fr-en", chosen)
    made.apply(*unzip(list(enumerate(log))))
    return made


def test_a_stored_campaign_is_the_one_that_ran() -> None:
    store = MemoryStore()
    stream = Embedded(Settings(), store=store)
    stream.publish(opened(budget=500))
    for each in crowd(120):
        stream.publish(each)
    stream.run()
    live = stream.campaign("wmt.fr-en")
    kept = load_campaign(store, "wmt.fr-en", partitions=[])
    assert kept.leaderboard() == live.leaderboard()
    assert campaign_view(kept) == campaign_view(live)
    assert judge_views(kept) == judge_views(live)
    assert segment_views(kept) == segment_views(live)
    assert pair_views(kept) == pair_views(live)


def test_a_missing_campaign_is_an_error_with_a_suggestion() -> None:
    store = MemoryStore()
    with pytest.raises(JudgestreamError, match=r"no campaign 'wmt.fr-ne'; there is none yet"):
        load_campaign(store, "wmt.fr-ne", partitions=["judgments.v1/0"])
    stream = Embedded(Settings(), store=store)
    stream.publish(judgment(campaign="wmt.fr-en"))
    stream.run()
    with pytest.raises(JudgestreamError, match=r"no campaign 'wmt.fr-ne'; did you mean 'wmt.fr-en'\?"):
        load_campaign(store, "wmt.fr-ne", partitions=["judgments.v1/0"])


def test_the_view_says_how_far_a_campaign_is() -> None:
    log = crowd(120, systems=4)
    made = campaign([*log, log[0]], budget=500)
    made.apply(
        *unzip(
            [
                (200, WithdrawSystem(id="w", campaign="wmt.fr-en", at=NOON, system="system-3")),
                (201, ExcludeJudge(id="x", campaign="wmt.fr-en", at=NOON, judge="judge-1")),
            ]
        )
    )
    view = campaign_view(made)
    assert (view.judgments, view.budget, view.duplicates, view.excluded) == (120, 500, 1, 1)
    assert (view.systems, view.withdrawn) == (3, ("system-3",))
    assert (view.state, view.offset, view.newest) == ("open", 201, log[-1].at)
    made.apply(*unzip([(202, Close(id="z", campaign="wmt.fr-en", at=NOON))]))
    assert campaign_view(made).state == "closed"


# -- judges ------------------------------------------------------------------------------------------------


def by_name(made: Campaign) -> dict[str, JudgeView]:
    return {judge.judge: judge for judge in judge_views(made)}


def test_judges_with_few_votes_are_not_tested_and_it_is_said() -> None:
    few = [msgspec.structs.replace(each, id=f"few-{each.id}", judge="rare") for each in crowd(19)]
    log = [msgspec.structs.replace(each, judge=f"judge-{number % 6}") for number, each in enumerate(crowd(300))]
    made = campaign([*log, *few])
    assert [judge.judge for judge in judge_views(made) if not judge.tested] == ["rare"]
    power = detection_power(made)
    assert power is not None
    assert power.message.startswith("1 of 7 judges has too few votes to be tested. ")


def test_a_campaign_that_tests_nobody_has_no_power() -> None:
    made = campaign(crowd(300), suspend_judges="off")
    assert detection_power(made) is None
    assert not any(judge.tested for judge in judge_views(made))
    assert detection_power(campaign([], model="assessment")) is None


def test_a_judge_s_figures_are_counted_from_the_log() -> None:
    log = crowd(300)
    wins: dict[tuple[str, str], int] = {}
    agreed: dict[str, int] = {}
    compared: dict[str, int] = {}
    for each in log:  # computes the majority again, in another way
        (a, b), (first, second) = each.systems, each.ranks or ()
        majority = wins.get((a, b), 0) - wins.get((b, a), 0)
        if majority and first != second:
            compared[each.judge] = compared.get(each.judge, 0) + 1
            agreed[each.judge] = agreed.get(each.judge, 0) + ((majority > 0) == (first < second))
        if first != second:
            winner = (a, b) if first < second else (b, a)
            wins[winner] = wins.get(winner, 0) + 1
    for name, judge in by_name(campaign(log)).items():
        mine = [each for each in log if each.judge == name]
        assert (judge.judgments, judge.agreed, judge.compared) == (len(mine), agreed[name], compared[name])
        assert judge.agreement == agreed[name] / compared[name]
        assert judge.seconds == pytest.approx(np.mean([(each.duration_ms or 0) / 1000 for each in mine]))
        assert (judge.sensitivity, judge.reliability, judge.excluded) == (None, None, False)


@pytest.mark.parametrize(("model", "field"), [("grm", "sensitivity"), ("trueskill-judges", "reliability")])
def test_the_model_s_own_figure_is_there(model: str, field: str) -> None:
    made = campaign(crowd(300), model)
    expected = getattr(made.model.judge_facts(), field)
    assert [getattr(judge, field) for judge in judge_views(made)] == expected.tolist()


def test_a_judge_without_durations_or_comparisons_has_no_figures() -> None:
    judge = by_name(campaign([judgment()]))["judge"]
    assert (judge.seconds, judge.agreement, judge.compared, judge.suspicious) == (None, None, 0, ())


def coin_among_judges(count: int) -> list[Judgment]:
    """Return judgments of six careful judges and one random judge, on systems that differ clearly."""
    random = np.random.default_rng(5)
    log = []
    for number in range(count):
        better, worse = sorted(random.choice(6, size=2, replace=False))
        looks = number % 7 != 0
        right = random.random() < (0.85 if looks else 0.5)
        ranks = (1, 2) if right else (2, 1)
        judge = f"judge-{number % 7}" if looks else "coin"
        log.append(judgment(number, systems=(f"s{better}", f"s{worse}"), ranks=ranks, judge=judge))
    return log


def suspects(made: Campaign) -> dict[str, tuple[str, ...]]:
    return {judge.judge: judge.suspicious for judge in judge_views(made) if judge.suspicious}


def test_only_the_random_judge_is_suspicious() -> None:
    found = suspects(campaign(coin_among_judges(700)))
    assert set(found) == {"coin"}
    assert found["coin"][0] == "like chance"
    assert "100 votes follow the order of the systems less than those of the other judges do" in found["coin"]


def test_few_judgments_make_nobody_suspicious() -> None:
    assert suspects(campaign(coin_among_judges(35))) == {}


def test_where_nobody_agrees_nobody_is_suspicious() -> None:
    random = np.random.default_rng(1)
    log = [judgment(k, ranks=((1, 2), (2, 1))[int(random.integers(2))], judge=f"judge-{k % 5}") for k in range(1000)]
    assert suspects(campaign(log)) == {}


def test_without_a_consensus_no_judge_is_like_chance() -> None:
    assert views.chance_odds(100, 100, typical=0.4) == views.chance_odds(0, 100, typical=0.4) == 0.0


@pytest.mark.parametrize(("model", "reason"), [("trueskill-judges", "like chance"), ("grm", "insensitive")])
def test_the_models_that_know_judges_find_the_coin_too(model: str, reason: str) -> None:
    found = suspects(campaign(coin_among_judges(2100), model))
    assert list(found) == ["coin"]
    assert reason in found["coin"]


def view(**figures: object) -> JudgeView:
    usual = {
        "judge": "j",
        "judgments": 50,
        "timed": 50,
        "seconds": 10.0,
        "agreed": 40,
        "compared": 50,
        "agreement": 0.8,
    }
    rest = {"sensitivity": None, "reliability": None, "too_fast": 0, "excluded": False}
    return msgspec.convert(usual | rest | figures, JudgeView)


@pytest.mark.parametrize(
    ("figures", "reasons"),
    [
        ({"seconds": 3.3}, ("hasty",)),
        ({"seconds": 3.4}, ()),
        ({"seconds": 3.3, "timed": 9}, ()),
        ({"too_fast": 6}, ("too fast",)),
        ({"too_fast": 5}, ()),
        ({"agreed": 20, "agreement": 0.4}, ("like chance",)),
        ({"agreed": 32, "agreement": 0.64}, ()),
    ],
)
def test_the_rule_has_these_bounds(figures: dict[str, object], reasons: tuple[str, ...]) -> None:
    crowd_of = [view(judge=f"other-{k}") for k in range(9)]
    *_, marked = views.with_suspicions([*crowd_of, view(**figures)])
    assert marked.suspicious == reasons


# -- segments and pairs ------------------------------------------------------------------------------------


def test_segments_are_counted_and_informative_where_the_model_knows() -> None:
    log = crowd(200)
    plain, graded = segment_views(campaign(log)), segment_views(campaign(log, "grm"))
    for each in plain:
        assert each.judgments == sum(one.segment == each.segment for one in log)
        assert each.information is None
    assert {each.segment for each in plain} == {one.segment for one in log}
    assert all(each.information is not None and each.information > 0 for each in graded)


def test_pairs_are_counted_from_the_side_of_the_higher_one() -> None:
    log = crowd(300)
    made = campaign(log)
    order = [row.system for row in made.leaderboard().rows]
    pairs = pair_views(made)
    assert len(pairs) == 28
    for pair in pairs:
        assert order.index(pair.system) < order.index(pair.opponent)
        met = [dict(zip(each.systems, each.ranks or (), strict=True)) for each in log]
        outcomes = [(one[pair.system], one[pair.opponent]) for one in met if {pair.system, pair.opponent} == set(one)]
        wins, losses = sum(a < b for a, b in outcomes), sum(a > b for a, b in outcomes)
        assert (pair.wins, pair.ties, pair.losses) == (wins, len(outcomes) - wins - losses, losses)
        assert pair.win_rate == (wins / (wins + losses) if wins + losses else None)
        back = pair.seen_by(pair.opponent)
        assert (back.system, back.wins, back.losses) == (pair.opponent, losses, wins)
        assert back.seen_by(pair.system) == pair


# -- the page ----------------------------------------------------------------------------------------------

PAGE = Path("docs/views.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
LINES = [line for language, block in BLOCKS if not language for line in block.splitlines()]
# The past of a campaign is read from Kafka: tests/integration/test_past.py.
EXAMPLES = [re.split(r" [>|] ", line)[0] for line in LINES if "--at" not in line]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_page_runs(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running(monkeypatch)
    log = [msgspec.structs.replace(each, campaign="wmt13.fr-en") for each in crowd(60)]
    uedin = judgment(999, campaign="wmt13.fr-en", systems=("uedin", "system-1"))
    running.take(*log, uedin, Close(id="z", campaign="wmt13.fr-en", at=LATER))  # so that a watch ends
    samples = Path("samples").resolve()
    monkeypatch.chdir(tmp_path)
    Path("samples").symlink_to(samples)
    Path("before.json").write_bytes(encode({"campaigns": rank(log).leaderboards}))
    Path("wmt13.csv.gz").write_bytes(gzip.compress(b"".join(encode(each) + b"\n" for each in log)))
    program, name, *arguments = shlex.split(example)
    assert program == "judgestream"
    result = CliRunner().invoke(import_module(f"streams.cli.commands.{name}").command, arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    assert result.stdout


def test_the_page_names_every_mark_and_its_bound() -> None:
    assert f"{views.LIKE_CHANCE:.0f} times as likely" in PAGE
    assert views.FAR_BELOW == 1 / 3
    assert f"at least {views.FEWEST_TIMED} timed judgments" in PAGE
    assert views.MOST_FLAGGED == 0.1
    marks = set(re.findall(r"^\| `([a-z ]+)` \| [a-z]", PAGE, re.MULTILINE))
    assert {"like chance", "unreliable", "insensitive", "hasty", "too fast"} <= marks


def test_a_campaign_of_scores_says_so_and_speaks_of_scores() -> None:
    campaign = Campaign("c", settings=CampaignSettings(model="assessment"))
    log = [
        judgment(number, systems=(system,), ranks=None, score=score, segment=f"segment-{number}")
        for number, (system, score) in enumerate([("a", 70.0), ("b", 60.0), ("a", 40.0), ("b", 50.0)])
    ]
    campaign.apply(range(len(log)), log)
    view = campaign_view(campaign)
    assert (view.kind, view.baseline) == ("scores", None)
    ahead = campaign.leaderboard().outlook
    assert ahead is not None
    assert ahead.state == "open"
    assert {ahead.above, ahead.below} == {"a", "b"}


def test_a_campaign_against_a_baseline_names_it() -> None:
    campaign = Campaign("c", settings=CampaignSettings(model="grm", baseline="base"))
    view = campaign_view(campaign)
    assert (view.kind, view.baseline) == ("rankings", "base")
