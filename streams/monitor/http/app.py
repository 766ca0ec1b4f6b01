"""The monitor as an aiohttp application."""

from __future__ import annotations

import asyncio
from functools import partial
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from streams.metrics import MonitorMetrics
from streams.monitor.http.access import Access
from streams.monitor.http.addresses import ClientAddresses
from streams.monitor.http.beginnings import CampaignBeginnings
from streams.monitor.http.connections import CONNECTIONS, Connections
from streams.monitor.http.demand import MatchDemand
from streams.monitor.http.guard import RequestGuard
from streams.monitor.http.intake import Intake
from streams.monitor.http.judge_names import JudgeNames
from streams.monitor.http.limits import Slots
from streams.monitor.http.matches import Matches
from streams.monitor.http.openapi import document
from streams.monitor.http.routes import ROUTES
from streams.monitor.live.hub import StreamHub
from streams.monitor.state.metas import CampaignMetas
from streams.monitor.state.monitor import Monitor
from streams.monitor.state.overviews import Overviews
from streams.monitor.state.payloads import StatusPayload, WorkerView
from streams.monitor.state.queries import Queries

if TYPE_CHECKING:
    from streams.monitor.backends.base import Backend
    from streams.settings import Settings

ACCESS_SECONDS = 2.0  # after which a change of the tokens or the sessions is noticed


class Site:
    """The HTTP application with everything that its handlers use."""

    def __init__(self, backend: Backend, settings: Settings, metrics: MonitorMetrics | None = None) -> None:
        self.settings = settings
        self.page = Path(str(resources.files("streams.monitor").joinpath("page")))
        self.access = Access.of(settings, backend)
        self.metrics = metrics or MonitorMetrics()
        self.monitor = Monitor(backend)
        self.queries = Queries(self.monitor)
        self.beginnings = CampaignBeginnings(backend, per_token=settings.campaigns_per_token)
        metas, judges = CampaignMetas(backend), JudgeNames(settings.judge_key)
        self.intake = Intake(self.monitor, metas, judges, settings, self.metrics)
        self._demand = MatchDemand(
            backend, metas, seconds=settings.monitor_lease_seconds, most=settings.monitor_max_demand
        )
        self.matches = Matches(backend, metas, judges, self._demand, settings, self.metrics)
        self.overviews = Overviews(self.monitor)
        self.hub = StreamHub(self.monitor, self.overviews, self.status, self.metrics)
        self.openapi = document()
        self.addresses = ClientAddresses(settings.monitor_proxies)
        self.connections = Connections(settings, self.addresses)
        self.streams = Slots(most=settings.monitor_streams, most_per_sender=settings.monitor_streams_per_address)
        self.guard = RequestGuard(
            settings,
            access=self.access,
            addresses=self.addresses,
            connections=self.connections,
            metrics=self.metrics,
        )
        self._following_access: asyncio.Task[None]
        self.metrics.event_streams.set_function(lambda: self.hub.streams)
        self.metrics.campaigns.set_function(lambda: self.monitor.campaigns)
        self.metrics.ready.set_function(lambda: not self.monitor.problems())
        seen = self.monitor.supervision
        self.metrics.workers.set_function(lambda: sum(not worker.is_silent for worker in seen.workers))
        self.metrics.partitions_waiting.set_function(lambda: len(seen.findings.stalled))

    def app(self) -> web.Application:
        """Build the application."""
        app = web.Application(middlewares=[self.guard.middleware], client_max_size=self.settings.monitor_body_bytes)
        app[CONNECTIONS] = self.connections
        for route in ROUTES:
            handler = self.guard.protect(route, partial(route.handler, self))
            app.router.add_route(route.method, route.path, handler, name=route.name)
        app.router.add_static("/static", self.page)
        app.on_response_prepare.append(self.guard.prepare)
        app.on_startup.append(self._start)
        app.on_shutdown.append(self._close_streams)
        app.on_cleanup.append(self._stop)
        return app

    async def status(self) -> StatusPayload:
        """Return the state of the monitor, and the lag of the workers."""
        seen = self.monitor.supervision
        await seen.refresh()
        problems = self.monitor.problems()
        return StatusPayload(
            version=metadata.version("judgestream"),
            ready=not problems,
            problems=problems,
            notes=list(seen.findings.notes),
            waiting=self.monitor.backend.waiting(),
            rate=round(self.monitor.rate, 3),
            partitions=list(seen.lags),
            workers=[WorkerView.of(report) for report in seen.workers],
            streams=self.hub.streams,
        )

    def end_streams(self) -> None:
        """End the event streams of those who may not read any more."""
        self.hub.end_streams(lambda viewer: not self.access.may_still_read(viewer))

    async def _follow_access(self) -> None:
        while True:
            await asyncio.sleep(ACCESS_SECONDS)
            await self.access.refresh()
            self.end_streams()

    async def _start(self, _: web.Application) -> None:
        await self.monitor.start()
        self._following_access = asyncio.create_task(self._follow_access(), name="access")

    async def _close_streams(self, _: web.Application) -> None:
        self.hub.close()

    async def _stop(self, _: web.Application) -> None:
        self._following_access.cancel()
        await asyncio.wait([self._following_access])
        await self._demand.stop()
        await self.monitor.stop()
