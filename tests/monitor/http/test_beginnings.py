"""A token begins a limited number of campaigns by posting to names that do not exist yet."""

from __future__ import annotations

from streams.settings import Settings
from tests.builders import judgment
from tests.monitor.http.test_intake import plain
from tests.monitor.site import TOKENS, Running, running
from tests.waiting import wait_for


def post(monitor: Running, campaign: str, number: int = 0) -> tuple[int, str | None]:
    answer = monitor.post(f"/campaigns/{campaign}/judgments", plain(judgment(number, campaign=campaign)))
    return answer.status, answer.json.get("error", {}).get("reason")


def test_one_campaign_too_many_is_refused_and_those_that_exist_go_on() -> None:
    with running(Settings(monitor_tokens=TOKENS, judge_key="key", campaigns_per_token=2)) as monitor:
        assert {post(monitor, name)[0] for name in ("a", "b")} <= {200, 202}
        assert post(monitor, "c") == (429, "too_many_campaigns")
        wait_for(lambda: monitor.stream.store.read_head("a"))
        assert post(monitor, "a", 1)[0] in (200, 202)
        answer = monitor.post("/campaigns/c/judgments", plain(judgment(0, campaign="c")))
        assert "campaigns_per_token" in answer.json["error"]["message"]
        assert 86000 < int(answer.headers["Retry-After"]) <= 86400
        assert monitor.stream.store.list_campaigns(["judgments.v1/0"]) == ["a", "b"]
