"""The aiohttp application: routes, what every answer carries, and errors as answers."""

from __future__ import annotations

import logging
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from aiohttp import web

from streams.errors import BrokerUnavailable, RecordError, StoreUnavailable
from streams.monitor.answers import HEADERS, UNCACHED, Refused, answer, refusal
from streams.monitor.hub import Hub
from streams.monitor.monitor import Monitor, UnknownCampaign
from streams.monitor.reads import Reads, StatusAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from streams.monitor.backend import Backend, Lag

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

log = logging.getLogger(__name__)

MOST_ROWS = 10_000
LAGS_SECONDS = 1.0


class Site:
    """The monitor's answers to HTTP requests."""

    def __init__(self, backend: Backend) -> None:
        self.monitor = Monitor(backend)
        self.reads = Reads(self.monitor)
        self.hub = Hub(self.monitor, self.status)
        self._lags: tuple[float, list[Lag]] = (-LAGS_SECONDS, [])

    def app(self) -> web.Application:
        """Build the application."""
        app = web.Application(middlewares=[_answering])
        page = Path(str(resources.files("streams.monitor").joinpath("page")))
        app.add_routes(
            [
                web.get("/", lambda _: _file(page / "index.html")),
                web.get("/campaigns", self._campaigns),
                web.get("/campaigns/{campaign}", self._campaign),
                web.get("/campaigns/{campaign}/leaderboard", self._leaderboard),
                web.get("/campaigns/{campaign}/ratings", self._ratings),
                web.get("/campaigns/{campaign}/judges", self._judges),
                web.get("/campaigns/{campaign}/segments", self._segments),
                web.get("/campaigns/{campaign}/pairs", self._pairs),
                web.get("/campaigns/{campaign}/history", self._history),
                web.get("/campaigns/{campaign}/requests", self._requests),
                web.get("/campaigns/{campaign}/rejections", self._rejections),
                web.get("/campaigns/{campaign}/events", self._campaign_events),
                web.get("/events", self._events),
                web.get("/status", self._status),
                web.get("/healthz", self._live),
                web.get("/readyz", self._ready),
                web.static("/static", page),
            ]
        )
        app.on_response_prepare.append(_with_headers)
        app.on_startup.append(self._start)
        app.on_shutdown.append(self._shut)
        app.on_cleanup.append(self._stop)
        return app

    async def _start(self, _: web.Application) -> None:
        await self.monitor.start()

    async def _shut(self, _: web.Application) -> None:
        self.hub.close()

    async def _stop(self, _: web.Application) -> None:
        await self.monitor.stop()

    # -- reads -----------------------------------------------------------------------------------------

    async def _campaigns(self, _: web.Request) -> web.Response:
        return answer(await self.reads.campaigns())

    async def _campaign(self, request: web.Request) -> web.Response:
        return answer(await self.reads.campaign(_name(request)))

    async def _leaderboard(self, request: web.Request) -> web.Response:
        return answer(await self.reads.leaderboard(_name(request)))

    async def _ratings(self, request: web.Request) -> web.Response:
        return answer(await self.reads.ratings(_name(request)))

    async def _judges(self, request: web.Request) -> web.Response:
        return answer(await self.reads.judges(_name(request)))

    async def _segments(self, request: web.Request) -> web.Response:
        order = request.query.get("order", "information")
        if order not in ("information", "judgments"):
            raise Refused(422, "invalid_value", "`order` is information or judgments", field="order")
        chosen = cast("Literal['information', 'judgments']", order)
        limit = _number(request, "limit", default=100)
        return answer(await self.reads.segments(_name(request), order=chosen, limit=limit))

    async def _pairs(self, request: web.Request) -> web.Response:
        return answer(await self.reads.pairs(_name(request)))

    async def _history(self, request: web.Request) -> web.Response:
        after = _number(request, "after", default=-1, most=2**53)
        return answer(await self.reads.history(_name(request), after=after))

    async def _requests(self, request: web.Request) -> web.Response:
        return answer(await self.reads.requests(_name(request)))

    async def _rejections(self, request: web.Request) -> web.Response:
        limit = _number(request, "limit", default=50)
        return answer(await self.reads.rejections(_name(request), limit=limit))

    # -- events ----------------------------------------------------------------------------------------

    async def _events(self, request: web.Request) -> web.StreamResponse:
        return await _streamed(request, self.hub.all())

    async def _campaign_events(self, request: web.Request) -> web.StreamResponse:
        return await _streamed(request, self.hub.campaign(_name(request)))

    # -- health ----------------------------------------------------------------------------------------

    async def status(self) -> StatusAnswer:
        """Say how the monitor and the workers are."""
        backend, now = self.monitor.backend, self.monitor.now()
        if now - self._lags[0] >= LAGS_SECONDS:
            try:
                self._lags = (now, await backend.lags())
            except (StoreUnavailable, BrokerUnavailable):
                self._lags = (now, self._lags[1])
        waiting = backend.waiting()
        return StatusAnswer(
            version=metadata.version("judgestream"),
            ready=not waiting,
            waiting=waiting,
            rate=round(self.monitor.rate, 3),
            partitions=self._lags[1],
            streams=self.hub.streams,
        )

    async def _status(self, _: web.Request) -> web.Response:
        return answer(await self.status())

    async def _live(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n", headers=UNCACHED)

    async def _ready(self, _: web.Request) -> web.Response:
        waiting = self.monitor.backend.waiting()
        return web.Response(text=f"{'; '.join(waiting) or 'ok'}\n", status=503 if waiting else 200, headers=UNCACHED)


def _name(request: web.Request) -> str:
    return request.match_info["campaign"]


def _number(request: web.Request, name: str, *, default: int, most: int = MOST_ROWS) -> int:
    text = request.query.get(name)
    if text is None:
        return default
    try:
        number = int(text) if len(text) < 20 and text.isascii() else -1
    except ValueError:
        number = -1
    if not 0 <= number <= most:
        raise Refused(422, "invalid_value", f"`{name}` is a number from 0 to {most}", field=name)
    return number


async def _file(path: Path) -> web.StreamResponse:
    return web.FileResponse(path, headers={"Cache-Control": "no-cache"})


async def _streamed(request: web.Request, messages: AsyncIterator[bytes]) -> web.StreamResponse:
    """Send events as they come, until either side ends it; what can't be found is said before anything is sent."""
    iterator = aiter(messages)
    first = await anext(iterator)
    response = web.StreamResponse(
        headers={**UNCACHED, "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}
    )
    try:
        await response.prepare(request)
        await response.write(first)
        async for words in iterator:
            await response.write(words)
    except ConnectionResetError:
        pass  # how most of them end
    finally:
        await iterator.aclose()  # type: ignore[attr-defined]
    return response


async def _with_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


@web.middleware
async def _answering(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn what can go wrong into answers that say what."""
    try:
        return await handler(request)
    except Refused as refused:
        return refusal(refused)
    except UnknownCampaign as error:
        return refusal(Refused(404, "unknown_campaign", str(error), field="campaign"))
    except RecordError as error:
        return refusal(Refused(422, error.reason, error.message, field=error.field))
    except (StoreUnavailable, BrokerUnavailable) as error:
        return refusal(Refused(503, "unavailable", str(error), headers={"Retry-After": "2"}))
    except web.HTTPException as error:
        reasons = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
        headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else None
        reason = reasons.get(error.status, "bad_request")
        return refusal(Refused(error.status, reason, error.reason, headers=headers))
