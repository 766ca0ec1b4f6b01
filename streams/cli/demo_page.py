"""`judgestream demo --serve`: the demo on the web page of the monitor, in one process."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

if TYPE_CHECKING:
    from streams.monitor.backends.demo import DemoCampaigns

HOST = "127.0.0.1"


def serve_demo(*, seed: int, judges: int, careless: float, budget: int, seconds: float, port: int) -> None:
    """Run the campaigns of the demo and serve the web page until Ctrl-C."""
    from streams.monitor.backends.demo import DemoCampaigns

    demo = DemoCampaigns(judges=judges, careless=careless, budget=budget, seed=seed)
    asyncio.run(_serve(demo, seconds=seconds, port=port))


async def _serve(demo: DemoCampaigns, *, seconds: float, port: int) -> None:
    from streams.monitor.backends.embedded import EmbeddedBackend
    from streams.monitor.http.app import Site
    from streams.monitor.http.server import serve_app, wait_for_signal
    from streams.monitor.http.tokens import entry_of, new_secret

    backend = EmbeddedBackend(demo.stream)
    secret = new_secret()
    settings = replace(demo.stream.settings, monitor_tokens=entry_of("demo", secret))
    async with serve_app(Site(backend, settings).app(), host=HOST, port=port) as url:
        click.echo(f"The page is at {url}  (stop with Ctrl-C)")
        click.echo(f"Judgments can be posted with the token {secret}")
        playing = asyncio.create_task(demo.run(backend, seconds=seconds))
        playing.add_done_callback(_report_end)
        try:
            await wait_for_signal()
        finally:
            playing.cancel()
            with suppress(asyncio.CancelledError):
                await playing
    click.echo(f"Stopped after {demo.judgments:,} judgments.", err=True)


def _report_end(playing: asyncio.Task[None]) -> None:
    if not playing.cancelled():
        playing.result()
        click.echo("The budget is used up. The page stays available.")
