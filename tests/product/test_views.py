"""Every model and mode in every scenario, as people see it: commands, `rank`, the monitor and the page's payloads."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from streams.core.models import MODELS, parameters_of
from streams.monitor.backends.embedded import EmbeddedBackend
from streams.wire import topics
from streams.wire.events import CampaignStatus, Leaderboard
from tests.monitor.site import running
from tests.product.checks import check_board
from tests.product.played import Played, play
from tests.product.reading import rank_options, read_monitor, run_command, show_campaign, write_log
from tests.product.variants import VARIANTS

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture(scope="module", params=VARIANTS, ids=str)
def played(request: pytest.FixtureRequest) -> Played:
    return play(request.param)


@pytest.fixture
def _stored(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands read the memory store, and a watch end after its first look."""

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("streams.stores.redis.store.RedisStore", lambda url, namespace: played.stream.store)
    monkeypatch.setattr("streams.cli.commands.watch.time.sleep", interrupted)


@pytest.mark.usefixtures("_stored")
def test_every_command_shows_every_campaign(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    statuses = {}
    for record in played.stream.log.all(topics.CAMPAIGNS.name):
        status = msgspec.json.decode(record.value or b"", type=CampaignStatus)
        statuses[status.campaign] = status
    monkeypatch.setattr("streams.cli.campaign_status.read_statuses", lambda settings: statuses)
    run_command("campaign", "show")
    for name in played.runs:
        run_command("campaign", "show", name)
        show_campaign(name, all_forms=name in ("no_judgment", "many_judgments", "one_system"))


def test_every_log_can_be_ranked(played: Played, tmp_path: Path) -> None:
    defaults = msgspec.structs.asdict(parameters_of(MODELS[played.variant.settings.model], {}))
    options = rank_options(played.variant.settings, defaults)
    log = write_log([judgment for run in played.runs.values() for judgment in run.judged], tmp_path / "log.jsonl")
    printed = run_command("rank", str(log), *options, "--json")
    boards = msgspec.json.decode(printed, type=dict[str, list[Leaderboard]])["campaigns"]
    assert {board.campaign for board in boards} == {name for name, run in played.runs.items() if run.judged}
    for board in boards:
        check_board(board)
    run_command("rank", str(log), *options)


def test_the_monitor_answers_for_every_campaign(played: Played) -> None:
    backend = EmbeddedBackend(played.stream)
    with running(played.stream.settings, backend=backend) as monitor:
        read_monitor(monitor, [*played.runs])
        assert monitor.site.monitor.failure() is None
