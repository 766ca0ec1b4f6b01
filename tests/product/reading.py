"""Read a campaign as people and programs do: every route of the monitor, and every command that shows a campaign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from click.testing import CliRunner

from streams.cli.main import cli
from streams.monitor.http.routes import EVENTS, ROUTES
from streams.monitor.state.payloads import CampaignsPayload
from streams.wire.events import CampaignSettings, Judgment, Leaderboard, encode
from tests.monitor.site import TOKEN, Client
from tests.product.checks import check_board, check_numbers, check_text

# The commands that show a stored campaign, with the forms of their output.
COMMANDS = {
    "leaderboard": ("", "--json", "--csv"),
    "judges": ("", "--json", "--csv"),
    "segments": ("", "--json", "--csv"),
    "pairs": ("", "--json", "--csv", "--list"),
    "watch": ("",),
}


def read_monitor(monitor: Client, campaigns: list[str]) -> None:
    """Read every route of a monitor, for every campaign."""
    for route in ROUTES:
        if route.method != "GET":
            continue
        for campaign in campaigns if "{campaign}" in route.path else campaigns[:1]:
            path = route.path.replace("{campaign}", quote(campaign)).replace("{id}", "an-id")
            if route.response == EVENTS:
                with monitor.events(path) as events:
                    check_text(json.dumps(next(events).data))
            else:
                answer = monitor.ask(path, headers=TOKEN)
                assert answer.status == 200, (path, answer)
                check_answer(route.response, answer.body)
    for campaign in campaigns:
        _ask_for_match(monitor, f"/campaigns/{quote(campaign)}/next-match")
    listed = msgspec.json.decode(monitor.ask("/campaigns?limit=1000").body, type=CampaignsPayload)
    assert {each.campaign for each in listed.campaigns} >= set(campaigns)
    assert monitor.get("/status")["ready"]


def check_answer(kind: type | str | None, body: bytes) -> None:
    """Check the body of an answer. The page itself, metrics and the description of the API may speak of infinity."""
    if isinstance(kind, type):
        check_text(body)
        found: Any = msgspec.json.decode(body, type=kind, strict=True)
        check_numbers(found)
        if isinstance(found, Leaderboard):
            check_board(found)


def _ask_for_match(monitor: Client, path: str) -> None:
    """Ask for a match. There is one if the campaign shows a request, and a closed or paused campaign refuses."""
    requests = monitor.get(path.replace("/next-match", "/requests"))["requests"]
    state = monitor.get(path.removesuffix("/next-match"))["state"]
    answer = monitor.post(path, {"judge": "ann"})
    assert answer.status == (409 if state != "open" else 200 if requests else 404), (path, answer)
    if requests:
        assert answer.json["matches"][0]["request"]["id"] in {request["id"] for request in requests}


def run_command(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """Run a command in this process. It must end well and be silent on standard error."""
    result = CliRunner(env={"COLUMNS": "120", **(environment or {})}).invoke(cli, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert (result.exit_code, result.stderr) == (0, ""), (arguments, result.output)
    check_text(result.stdout)
    return result.stdout


def show_campaign(campaign: str, *, all_forms: bool = True, **options: Any) -> None:
    """Run every command that shows a stored campaign, in its first form or in all."""
    for command, forms in COMMANDS.items():
        for form in forms if all_forms else forms[:1]:
            printed = run_command(command, campaign, *([form] if form else []), **options)
            if form == "--json" or command == "watch":
                for line in printed.splitlines():
                    json.loads(line)


def rank_options(settings: CampaignSettings, defaults: dict[str, Any]) -> list[str]:
    """Return the options of `rank` for a model in this mode."""
    chosen = {name: value for name, value in settings.parameters.items() if defaults[name] != value}
    options = [f"--parameter={name}={value}" for name, value in chosen.items()]
    return [f"--model={settings.model}", *options, *([f"--baseline={settings.baseline}"] if settings.baseline else [])]


def write_log(judgments: list[Judgment], file: Path) -> Path:
    """Write judgments as JSON Lines."""
    file.write_bytes(b"".join(encode(judgment) + b"\n" for judgment in judgments))
    return file
