"""The demo behind a page plays all of its campaigns to their end."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

from streams.monitor.backends.demo import SECOND, DemoCampaigns
from streams.monitor.backends.embedded import EmbeddedBackend
from streams.monitor.http.app import Site
from tests.monitor.site import Client
from tests.waiting import PATIENCE_SECONDS, wait_for

JUDGESTREAM = Path(sys.executable).with_name("judgestream")


def test_every_campaign_spends_its_budget_and_bad_records_are_rejected() -> None:
    demo = DemoCampaigns(judges=6, careless=0.2, budget=150, seed=1)

    async def play() -> dict[str, int]:
        backend = EmbeddedBackend(demo.stream)
        site = Site(backend, demo.stream.settings)
        await site.monitor.start()
        try:
            await demo.run(backend, seconds=0)
            assert site.monitor.outputs("wmt13.fr-en").rejections.reasons == {"unknown_system": 1}
            judgments: dict[str, int] = {}
            while sum(judgments.values()) < demo.judgments:
                await asyncio.sleep(0.05)
                judgments = {each.campaign: each.judgments for each in await site.monitor.overviews()}
            return judgments
        finally:
            await site.monitor.stop()

    assert asyncio.run(play()) == {"wmt13.fr-en": 150, SECOND: 15}
    assert demo.judgments == 165


def test_the_demo_serves_its_page_until_it_is_told_to_stop(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [JUDGESTREAM, "demo", "--serve", "--budget", "40", "--judges", "4", "--seconds", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert demo.stdout is not None
        first, second, third = (demo.stdout.readline() for _ in range(3))
        url, token = first.split()[4], second.split()[-1]
        assert third == "The budget is used up. The page stays available.\n"
        client = Client(url)
        assert client.ask("/").status == 200
        wait_for(lambda: client.get("/campaigns/wmt13.fr-en/leaderboard")["judgments"] == 40)
        bearer = {"Authorization": f"Bearer {token}"}
        match = client.post("/campaigns/wmt13.fr-en/next-match", {"judge": "me"}, **bearer)
        assert match.json["error"]["reason"] == "no_match"  # the budget is spent, and nobody is asked any more
        demo.send_signal(signal.SIGINT)
        _, said = demo.communicate(timeout=PATIENCE_SECONDS)
        assert (demo.returncode, said) == (0, "Stopped after 44 judgments.\n")
    finally:
        if demo.poll() is None:
            demo.kill()
            demo.communicate()
