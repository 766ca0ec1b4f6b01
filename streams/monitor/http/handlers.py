"""One function for each thing that can be asked over HTTP: parameters in, answer out."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import msgspec
from aiohttp import web
from msgspec import Struct

from streams.monitor.http.access import COOKIE, SESSION_SECONDS, WRONG_TOKEN
from streams.monitor.http.bodies import NDJSON, judgments_in, label_studio_judgments
from streams.monitor.http.responses import JSON, UNCACHED, RequestError, answer
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.decoding import quote
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from streams.monitor.http.app import Site
    from streams.monitor.state.queries import Order

MOST_ROWS = 10_000
PAGE = {"Cache-Control": "no-cache"}


class TokenBody(Struct, frozen=True, kw_only=True):
    """The token that a session is opened with."""

    token: str


# -- reading ---------------------------------------------------------------------------------------------


async def page(site: Site, _: web.Request) -> web.StreamResponse:
    """The live page."""
    return web.FileResponse(site.page / "index.html", headers=PAGE)


async def campaigns(site: Site, _: web.Request) -> web.Response:
    """All campaigns at a glance."""
    return answer(await site.queries.campaigns())


async def campaign(site: Site, request: web.Request) -> web.Response:
    """One campaign, with its settings."""
    return answer(await site.queries.campaign(_name(request)))


async def leaderboard(site: Site, request: web.Request) -> web.Response:
    """The newest leaderboard."""
    return answer(await site.queries.leaderboard(_name(request)))


async def ratings(site: Site, request: web.Request) -> web.Response:
    """Every system's rating."""
    return answer(await site.queries.ratings(_name(request)))


async def judges(site: Site, request: web.Request) -> web.Response:
    """The judges, by pseudonym."""
    return answer(await site.queries.judges(_name(request)))


async def segments(site: Site, request: web.Request) -> web.Response:
    """The segments that tell most, or were judged most."""
    order = request.query.get("order", "information")
    if order not in ("information", "judgments"):
        raise RequestError(422, "invalid_value", "`order` is information or judgments", field="order")
    limit = _number(request, "limit", default=100)
    return answer(await site.queries.segments(_name(request), order=cast("Order", order), limit=limit))


async def pairs(site: Site, request: web.Request) -> web.Response:
    """How each two systems fared, and when they met."""
    return answer(await site.queries.pairs(_name(request)))


async def history(site: Site, request: web.Request) -> web.Response:
    """How the ratings came about."""
    after = _number(request, "after", default=-1, most=2**53)
    return answer(await site.queries.history(_name(request), after=after))


async def requests(site: Site, request: web.Request) -> web.Response:
    """The match requests that are out."""
    return answer(await site.queries.requests(_name(request)))


async def rejections(site: Site, request: web.Request) -> web.Response:
    """What was rejected, and why."""
    limit = _number(request, "limit", default=50)
    return answer(await site.queries.rejections(_name(request), limit=limit))


async def events(site: Site, request: web.Request) -> web.StreamResponse:
    """Changes of all campaigns, as server-sent events."""
    return await _streamed(request, site.hub.all())


async def campaign_events(site: Site, request: web.Request) -> web.StreamResponse:
    """Changes of one campaign, as server-sent events."""
    return await _streamed(request, site.hub.campaign(_name(request)))


# -- writing ---------------------------------------------------------------------------------------------


async def post_judgments(site: Site, request: web.Request) -> web.Response:
    """Judgments into the log; answered once the broker has them. An id that was there before changes nothing."""
    name = _sound_name(request)
    if request.content_type not in (JSON, NDJSON):
        raise RequestError(415, "unsupported_type", f"send {JSON} or {NDJSON}", field="Content-Type")
    found = judgments_in(
        await request.read(),
        campaign=name,
        now=datetime.now(UTC),
        max_bytes=site.settings.max_record_bytes,
        in_lines=request.content_type == NDJSON,
    )
    return answer(await site.intake.accept(name, found))


async def post_label_studio(site: Site, request: web.Request) -> web.Response:
    """What a webhook of Label Studio sends, as it is."""
    name = _sound_name(request)
    if request.content_type != JSON:
        raise RequestError(415, "unsupported_type", f"send {JSON}", field="Content-Type")
    found = label_studio_judgments(await request.read(), campaign=name, now=datetime.now(UTC))
    return answer(await site.intake.accept(name, found))


async def next_match(site: Site, request: web.Request) -> web.Response:
    """The next match for a judge, who has it until the lease expires."""
    judge = request.query.get("judge", "")
    if not 1 <= len(judge) <= MAX_NAME:
        raise RequestError(422, "invalid_value", f"`judge` has 1 to {MAX_NAME} characters", field="judge")
    return answer(await site.intake.next_match(_name(request), judge))


async def open_session(site: Site, request: web.Request) -> web.Response:
    """A cookie for a browser, good for reading only."""
    try:
        body = msgspec.json.decode(await request.read(), type=TokenBody)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError(422, "invalid_json", 'send {"token": "SECRET"}', field="token") from None
    name = site.access.name_of(body.token)
    if name is None:
        raise RequestError(401, WRONG_TOKEN, "the token is not known here", field="token")
    response = web.Response(status=204, headers=UNCACHED)
    secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    response.set_cookie(
        COOKIE,
        site.access.session(name, now=time.time()),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="Strict",
        secure=secure,
    )
    return response


async def close_session(_: Site, __: web.Request) -> web.Response:
    """The end of a session."""
    response = web.Response(status=204, headers=UNCACHED)
    response.del_cookie(COOKIE, samesite="Strict", httponly=True)
    return response


# -- how it goes -----------------------------------------------------------------------------------------


async def status(site: Site, _: web.Request) -> web.Response:
    """How the monitor and the workers are."""
    return answer(await site.status())


async def live(site: Site, _: web.Request) -> web.Response:
    """Whether the monitor lives, or only a restart would help."""
    problem = site.monitor.failure()
    return web.Response(text=f"{problem or 'ok'}\n", status=503 if problem else 200, headers=UNCACHED)


async def ready(site: Site, _: web.Request) -> web.Response:
    """Whether Kafka and Redis answer."""
    waiting = site.monitor.backend.waiting()
    return web.Response(text=f"{'; '.join(waiting) or 'ok'}\n", status=503 if waiting else 200, headers=UNCACHED)


async def metrics(site: Site, request: web.Request) -> web.Response:
    """What Prometheus asks for."""
    text, content_type = site.metrics.exposition(request.headers.get("Accept", ""))
    return web.Response(body=text, headers={**UNCACHED, "Content-Type": content_type})


async def openapi(site: Site, _: web.Request) -> web.Response:
    """The OpenAPI document of all of it."""
    return web.Response(body=site.openapi, content_type=JSON, headers=PAGE)


# -- parameters ------------------------------------------------------------------------------------------


def _name(request: web.Request) -> str:
    return request.match_info["campaign"]


def _sound_name(request: web.Request) -> str:
    """Give the campaign of a request that may bring it into being."""
    name = _name(request)
    if not is_campaign_name(name):
        message = f"`campaign` is {quote(name)}; {CAMPAIGN_RULE}"
        raise RequestError(422, "invalid_value", message, field="campaign")
    return name


def _number(request: web.Request, name: str, *, default: int, most: int = MOST_ROWS) -> int:
    text = request.query.get(name)
    if text is None:
        return default
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1
    if not 0 <= number <= most:
        raise RequestError(422, "invalid_value", f"`{name}` is a number from 0 to {most}", field=name)
    return number


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
