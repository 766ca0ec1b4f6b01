"""One log, one board: `rank`, the leaderboard of the replayed log and the monitor show the same numbers."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import streams
from streams.cli.main import cli
from streams.core.campaign.pseudonyms import Pseudonyms
from streams.monitor.backends.embedded import EmbeddedBackend
from streams.offline.rating import JUDGE_CODES
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.wire.events import CampaignSettings, Create, Leaderboard, encode
from tests.builders import NOON, crowd_log
from tests.monitor.site import running

LOG = [replace(each, campaign="c") for each in crowd_log(300, systems=5)]


def numbers(board: Leaderboard) -> Leaderboard:
    """Return a board without what depends on the place of its judgments in a log, and on the tests of judges.

    Those of `rank` are exact and read the whole log.
    """
    cautions = tuple(caution for caution in board.cautions if caution.code not in JUDGE_CODES)
    return replace(board, offset=0, sequence=0, cautions=cautions)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("key", ["", "a secret"])
def test_rank_the_replayed_log_and_the_monitor_show_the_same_board(tmp_path: Path, key: str) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in LOG))
    printed = CliRunner(env={"JUDGESTREAM_JUDGE_KEY": key}).invoke(cli, ["rank", str(file), "--json"]).stdout
    (ranked,) = msgspec.json.decode(printed, type=dict[str, list[Leaderboard]])["campaigns"]
    (notebook,) = streams.rank(file, judge_key=key).leaderboards
    assert notebook == ranked

    stream = Embedded(Settings(judge_key=key))
    stream.publish(Create(id="create", campaign="c", at=NOON, settings=CampaignSettings(outstanding=0)))
    for each in reversed(LOG):
        stream.publish(each)
    stream.run()
    live = stream.campaign("c").leaderboard()
    assert numbers(live) == numbers(ranked)

    with running(stream.settings, backend=EmbeddedBackend(stream)) as monitor:
        shown = msgspec.convert(monitor.get("/campaigns/c/leaderboard"), Leaderboard)
    assert shown == live

    named = Pseudonyms(key.encode())  # a file that `judgestream convert --pseudonyms` has written needs no key
    assert numbers(streams.rank([named.replace_judge(each) for each in LOG]).leaderboards[0]) == numbers(live)
