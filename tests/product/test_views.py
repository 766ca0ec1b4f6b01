"""Every model and mode in every scenario, as people see it: commands, `rank`, the monitor and the page's payloads."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from streams.cli.main import cli
from streams.core.models import MODELS, parameters_of
from streams.monitor.backends.embedded import EmbeddedBackend
from streams.wire import topics
from streams.wire.events import CampaignStatus, Leaderboard
from tests.monitor.site import running
from tests.product.checks import check_board
from tests.product.played import Played, play
from tests.product.reading import rank_options, read_monitor, run_command, show_campaign, write_log
from tests.product.variants import VARIANTS, Variant

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.long]


# Enough to rank: what a log can look like does not depend on commands.
LOGS = ("one_judgment", "two_systems", "ties_only", "one_always_wins", "many_judgments")


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_command_and_the_monitor_show_every_campaign(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    played = play(variant)
    with monkeypatch.context() as patched:
        show_all(played, patched)
    with running(played.stream.settings, backend=EmbeddedBackend(played.stream)) as monitor:
        read_monitor(monitor, [*played.runs])
        assert monitor.site.monitor.failure() is None


def show_all(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands on the memory store. A watch ends after its first look."""

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    statuses = {}
    for record in played.stream.log.all(topics.CAMPAIGNS.name):
        status = msgspec.json.decode(record.value or b"", type=CampaignStatus)
        statuses[status.campaign] = status
    monkeypatch.setattr("streams.stores.redis.store.RedisStore", lambda url, namespace: played.stream.store)
    monkeypatch.setattr("streams.cli.commands.watch.time.sleep", interrupted)
    monkeypatch.setattr("streams.cli.campaign_status.read_statuses", lambda settings: statuses)
    run_command("campaign", "show")
    for name in played.runs:
        run_command("campaign", "show", name)
        show_campaign(name, all_forms=name in ("no_judgment", "many_judgments", "one_system"))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_log_can_be_ranked(variant: Variant, tmp_path: Path) -> None:
    played = play(variant, LOGS)
    defaults = msgspec.structs.asdict(parameters_of(MODELS[variant.settings.model], {}))
    options = rank_options(variant.settings, defaults)
    log = write_log([judgment for run in played.runs.values() for judgment in run.judged], tmp_path / "log.jsonl")
    if variant.settings.budget:  # a log has no budget; the refusal says that this mode needs one
        refused = CliRunner().invoke(cli, ["rank", str(log), *options])
        assert (refused.exit_code, "budget" in refused.output) == (2, True), refused.output
        return
    printed = run_command("rank", str(log), *options, "--json")
    boards = msgspec.json.decode(printed, type=dict[str, list[Leaderboard]])["campaigns"]
    assert {board.campaign for board in boards} == set(played.runs)
    for board in boards:
        check_board(board)
    run_command("rank", str(log), *options)
