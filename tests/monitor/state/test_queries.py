"""What the monitor tells of a campaign is what the campaign's own views tell."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from streams.reports import PairView
from streams.reports.views import CampaignView, campaign_view, detection_power, judge_views, pair_views, segment_views
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import CampaignSettings, Close, Create, ExcludeJudge, SuspendJudges, encode
from tests.builders import NOON, crowd_log, judgment
from tests.monitor.site import Running, running
from tests.waiting import wait_for

CAMPAIGN = "campaign-0"


@pytest.fixture(scope="module")
def filled() -> Iterator[Running]:
    """Return a monitor of a campaign with 400 judgments, published in two parts."""
    log = crowd_log(400, systems=6)
    with running() as found:
        found.publish(*log[:200])
        found.get(f"/campaigns/{CAMPAIGN}/leaderboard")
        wait_for(lambda: found.site.monitor.backend.ledger.pair_samples(CAMPAIGN))
        found.publish(*log[200:], judgment(9001, campaign=CAMPAIGN, ranks=(1, 2, 3)))
        wait_for(lambda: found.get(f"/campaigns/{CAMPAIGN}/ratings")["ratings"][0]["offset"] == 399)
        yield found


def plain(value: object) -> Any:
    return json.loads(encode(value))


def test_the_leaderboard_is_the_campaign_s(filled: Running) -> None:
    assert filled.get(f"/campaigns/{CAMPAIGN}/leaderboard") == plain(filled.stream.campaign(CAMPAIGN).leaderboard())


def test_the_leaderboard_can_have_elo_points(filled: Running) -> None:
    board = filled.get(f"/campaigns/{CAMPAIGN}/leaderboard")
    anchor = board["rows"][-1]["system"]
    points = filled.get(f"/campaigns/{CAMPAIGN}/leaderboard?scale=elo&anchor={anchor}")
    assert points["scale"] == "elo"
    for row, shown in zip(board["rows"], points["rows"], strict=True):
        gap = row["score"] - board["rows"][-1]["score"]
        assert shown["score"] == pytest.approx(1000 + board["elo_per_score"] * gap)
        assert (shown["rank"], shown["rank_low"]) == (row["rank"], row["rank_low"])


def test_a_campaign_is_summed_up_with_its_settings(filled: Running) -> None:
    campaign = filled.stream.campaign(CAMPAIGN)
    found = filled.get(f"/campaigns/{CAMPAIGN}")
    view = plain(campaign_view(campaign))
    assert {name: found[name] for name in CampaignView.__struct_fields__} == view
    assert found["settings"] == plain(CampaignSettings())
    board = campaign.leaderboard()
    clusters = max(row.cluster for row in board.rows)
    assert (found["clusters"], found["leader"]) == (clusters, board.rows[0].system)
    assert found["separation"] == pytest.approx((clusters - 1) / 5)
    assert found["sequence"] == board.sequence
    assert found["rate"] > 0


def test_the_ratings_add_up_to_the_judgments(filled: Running) -> None:
    ratings = filled.get(f"/campaigns/{CAMPAIGN}/ratings")["ratings"]
    assert sum(rating["judgments"] for rating in ratings) == 2 * 400
    model = filled.stream.campaign(CAMPAIGN).model
    assert [rating["mean"] for rating in ratings] == model.scores()[0].tolist()


def test_judges_are_those_of_the_views_by_pseudonym(filled: Running) -> None:
    payload = filled.get(f"/campaigns/{CAMPAIGN}/judges")
    found, campaign = payload["judges"], filled.stream.campaign(CAMPAIGN)
    assert found == plain(judge_views(campaign))
    assert not any(judge["judge"].startswith("judge-") for judge in found)
    assert payload["power"] == plain(detection_power(campaign))
    assert payload["power"]["tested"] == sum(judge["tested"] for judge in found)


def test_suspended_judges_are_named_and_their_judgments_counted(monitor: Running) -> None:
    monitor.publish(*(judgment(i, judge=name) for i, name in enumerate(("one", "two", "two"))))
    judges = {each["judgments"]: each["judge"] for each in monitor.get("/campaigns/c/judges")["judges"]}
    monitor.publish(SuspendJudges(id="s", campaign="c", at=NOON, judges=(f"~{judges[2]}",)))
    wait_for(lambda: monitor.get("/campaigns/c/judges")["suspended"])
    found = monitor.get("/campaigns/c/judges")
    assert [each["judge"] for each in found["judges"]] == [judges[1]]
    assert found["suspended"] == [judges[2]]
    assert monitor.get("/campaigns/c/leaderboard")["left_out"] == {"suspended": 2}


def test_judges_and_segments_come_in_pages(filled: Running) -> None:
    for path, rows, name in (("judges", "judges", "judge"), ("segments?order=judgments", "segments", "segment")):
        mark = "&" if "?" in path else "?"
        whole = filled.get(f"/campaigns/{CAMPAIGN}/{path}{mark}limit=1000")
        assert (whole["next"], whole["total"]) == (None, len(whole[rows]))
        found: list[dict[str, object]] = []
        after = ""
        while True:
            page = filled.get(f"/campaigns/{CAMPAIGN}/{path}{mark}limit=3{after}")
            found += page[rows]
            if page["next"] is None:
                break
            assert (len(page[rows]), page["next"]) == (3, page[rows][-1][name])
            after = f"&after={page['next']}"
        assert found == whole[rows]
        answer = filled.ask(f"/campaigns/{CAMPAIGN}/{path}{mark}after=gone")
        assert (answer.status, answer.json["error"]["field"]) == (422, "after")


def test_suspicious_judges_come_first_if_asked_for() -> None:
    with running() as monitor:
        exclusion = ExcludeJudge(id="x", campaign=CAMPAIGN, at=NOON, judge="judge-3")
        monitor.publish(*crowd_log(100), exclusion)
        first, *others = monitor.get(f"/campaigns/{CAMPAIGN}/judges?order=suspicious")["judges"]
        assert monitor.ask(f"/campaigns/{CAMPAIGN}/judges?order=name").status == 422
    assert first["excluded"]
    calm = [judge["judgments"] for judge in others if not judge["suspicious"]]
    assert calm == sorted(calm, reverse=True)
    assert len(others) == 6


def test_judgments_on_segments_beyond_the_limit_are_counted() -> None:
    with running(Settings(judge_key="key", max_segments=5)) as monitor:
        monitor.publish(*(judgment(number, segment=f"s-{number}") for number in range(9)))
        found = monitor.get("/campaigns/c/segments")
    assert (found["total"], len(found["segments"]), found["others"]) == (5, 5, 4)


@pytest.mark.parametrize("limit", [0, 3, 1000])
def test_segments_come_in_order_and_as_many_as_asked(filled: Running, limit: int) -> None:
    views = segment_views(filled.stream.campaign(CAMPAIGN))
    found = filled.get(f"/campaigns/{CAMPAIGN}/segments?order=judgments&limit={limit}")
    assert found["total"] == len(views)
    counts = [segment["judgments"] for segment in found["segments"]]
    assert counts == sorted((view.judgments for view in views), reverse=True)[:limit]


def test_pairs_are_split_into_the_campaign_s_halves(filled: Running) -> None:
    found = filled.get(f"/campaigns/{CAMPAIGN}/pairs")
    campaign = filled.stream.campaign(CAMPAIGN)
    assert found["systems"] == [row.system for row in campaign.leaderboard().rows]
    fields = PairView.__struct_fields__
    assert [{name: pair[name] for name in fields} for pair in found["pairs"]] == plain(pair_views(campaign))
    assert found["half"] == 200
    first: dict[frozenset[str], int] = {}
    for entry in crowd_log(400, systems=6)[:200]:
        pair = frozenset(entry.systems)
        first[pair] = first.get(pair, 0) + 1
    for pair in found["pairs"]:
        total = pair["wins"] + pair["ties"] + pair["losses"]
        assert pair["early"] == first.get(frozenset((pair["system"], pair["opponent"])), 0)
        assert pair["early"] + pair["late"] == total


def test_the_history_ends_in_the_present_and_can_be_asked_for_what_is_new(filled: Running) -> None:
    found = filled.get(f"/campaigns/{CAMPAIGN}/history")
    board = filled.get(f"/campaigns/{CAMPAIGN}/leaderboard")
    last = found["samples"][-1]
    assert last["sequence"] == board["sequence"]
    ranks = dict(zip(found["systems"], last["ranks"], strict=True))
    assert ranks == {row["system"]: row["rank"] for row in board["rows"]}
    sequences = [sample["sequence"] for sample in found["samples"]]
    assert sequences == sorted(set(sequences))
    newer = filled.get(f"/campaigns/{CAMPAIGN}/history?after={sequences[0]}")
    assert [sample["sequence"] for sample in newer["samples"]] == sequences[1:]


def test_a_system_that_came_later_is_null_before(monitor: Running) -> None:
    monitor.publish(judgment(1))
    monitor.get("/campaigns/c/leaderboard")
    wait_for(lambda: monitor.site.monitor.backend.ledger.samples("c"))
    monitor.publish(judgment(2, systems=("a", "z")))
    wait_for(lambda: "z" in monitor.get("/campaigns/c/history")["systems"])
    found = monitor.get("/campaigns/c/history")
    column = found["systems"].index("z")
    assert [sample["ranks"][column] is None for sample in found["samples"]] == [True, False]


def test_rejections_are_counted_and_shown_without_the_record(filled: Running) -> None:
    found = filled.get(f"/campaigns/{CAMPAIGN}/rejections")
    assert (found["total"], found["reasons"]) == (1, {"length_mismatch": 1})
    assert found["latest"][0]["place"] == f"{topics.JUDGMENTS.name}/0/400"
    assert found["latest"][0]["field"] == "ranks"
    assert "original" not in found["latest"][0]


def test_requests_are_those_that_are_out(filled: Running) -> None:
    found = filled.get(f"/campaigns/{CAMPAIGN}/requests")["requests"]
    assert [request["id"] for request in found] == list(filled.stream.campaign(CAMPAIGN).outstanding)
    assert all(request["leased_until"] is None and request["why"] and request["information"] for request in found)


def test_all_campaigns_come_newest_first(monitor: Running) -> None:
    for number, name in enumerate(("b", "a", "c")):
        monitor.publish(judgment(number, campaign=name))
    assert [campaign["campaign"] for campaign in monitor.get("/campaigns")["campaigns"]] == ["c", "a", "b"]


def test_a_campaign_without_systems_is_shown_too(monitor: Running) -> None:
    monitor.publish(Create(id="1", campaign="empty", at=NOON))
    found = monitor.get("/campaigns/empty")
    assert (found["leader"], found["separation"], found["systems"]) == (None, 1, 0)
    for what in ("leaderboard", "ratings", "judges", "segments", "pairs", "history", "requests", "rejections"):
        monitor.get(f"/campaigns/empty/{what}")


def test_a_closed_campaign_says_so(monitor: Running) -> None:
    monitor.publish(judgment(1), Close(id="x", campaign="c", at=NOON))
    assert monitor.get("/campaigns/c")["state"] == "closed"


@pytest.mark.parametrize("name", ["nope", "..%2F..%2Fetc", "%2e%2e", "a%0Ab", "x" * 201, "%00", "<img>"])
@pytest.mark.parametrize("what", ["", "/leaderboard", "/events"])
def test_a_campaign_that_is_not_there_is_not_found(monitor: Running, name: str, what: str) -> None:
    answer = monitor.ask(f"/campaigns/{name}{what}")
    assert answer.status == 404
    assert answer.json["error"]["reason"] in ("unknown_campaign", "not_found")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("segments?limit=many", "limit"),
        ("segments?limit=-1", "limit"),
        ("segments?limit=99999", "limit"),
        ("segments?order=name", "order"),
        ("leaderboard?scale=points", "scale"),
        ("leaderboard?anchor=system-1", "anchor"),
        ("leaderboard?scale=elo&anchor=nobody", "anchor"),
        ("history?after=%C2%B2", "after"),
        ("rejections?limit=1e3", "limit"),
    ],
)
def test_a_wrong_parameter_is_named(filled: Running, path: str, field: str) -> None:
    answer = filled.ask(f"/campaigns/{CAMPAIGN}/{path}")
    assert (answer.status, answer.json["error"]["field"]) == (422, field)


def test_the_status_tells_lag_version_and_readiness(filled: Running) -> None:
    wait_for(lambda: filled.get("/status")["partitions"][0]["end"] == 401)  # it is read once a second
    found = filled.get("/status")
    assert found["ready"] is True
    (partition,) = found["partitions"]
    assert {name: partition[name] for name in ("partition", "end", "readable", "applied")} == {
        "partition": 0,
        "end": 401,
        "readable": 401,
        "applied": 401,
    }
    assert (partition["lag"], partition["missing"], partition["forwarded"], partition["stopped"]) == (0, 0, 0, None)
    assert [(worker["open"], worker["silent"]) for worker in found["workers"]] == [([0], False)]
    assert found["problems"] == found["notes"] == []
    assert filled.ask("/readyz").body == filled.ask("/healthz").body == b"ok\n"


def test_metrics_count_what_was_asked(filled: Running) -> None:
    filled.get(f"/campaigns/{CAMPAIGN}/pairs")
    text = filled.ask("/metrics").body.decode()
    counted = [line for line in text.splitlines() if line.startswith("judgestream_monitor_http_requests_total{")]
    assert any('route="/campaigns/{campaign}/pairs"' in line and 'status="200"' in line for line in counted)
    assert not any(CAMPAIGN in line for line in counted)
    assert "judgestream_monitor_campaigns 1.0" in text


def test_the_page_is_served_and_may_be_asked_for_again_cheaply(filled: Running) -> None:
    page = filled.ask("/")
    assert (page.status, page.headers["Content-Type"].partition(";")[0]) == (200, "text/html")
    again = filled.ask("/", headers={"If-None-Match": page.headers["Etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"])
def test_only_the_page_s_own_files_are_served(filled: Running, path: str) -> None:
    assert filled.ask(path).status in (403, 404)


def test_a_campaign_that_does_not_change_is_not_read_again(monitor: Running) -> None:
    monitor.publish(judgment(1))
    monitor.get("/campaigns/c/leaderboard")
    watched = monitor.site.monitor.known("c")
    assert watched is not None
    first = watched.snapshot
    deadline = time.monotonic() + 1.5
    for _ in itertools.takewhile(lambda _: time.monotonic() < deadline, itertools.count()):
        monitor.get("/campaigns/c/judges")
    assert watched.snapshot is first
