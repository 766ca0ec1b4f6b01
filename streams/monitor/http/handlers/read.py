"""Handlers that read: the page, the queries and the event streams."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from aiohttp import web

from streams.core.campaign.pseudonyms import MARK, is_pseudonym
from streams.errors import JudgestreamError, ParameterError
from streams.monitor.http.access import TOKEN, VIEWER
from streams.monitor.http.handlers.parameters import (
    MOST_CAMPAIGNS,
    campaign_name,
    choice,
    event_id,
    judgment_id,
    number,
    text,
)
from streams.monitor.http.responses import (
    RETRY_SECONDS,
    REVALIDATED,
    UNCACHED,
    RequestError,
    json_response,
    too_busy,
    too_many,
)
from streams.monitor.state.lookup import UnknownCampaign
from streams.monitor.state.overviews import PAGE_ROWS, place_of
from streams.reports.scale import check_scale, on_scale

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from streams.monitor.http.app import Site
    from streams.monitor.state.queries import JudgeOrder, SegmentOrder
    from streams.wire.events import Leaderboard

STALLED_SECONDS = 30.0  # in which a client must read something of an event stream
SHOWN_STATES = ("open", "paused", "closed", "archived")


async def page(site: Site, _: web.Request) -> web.StreamResponse:
    """The live page."""
    return web.FileResponse(site.page / "index.html", headers=REVALIDATED)


async def campaigns(site: Site, request: web.Request) -> web.Response:
    """Summaries of the campaigns that may be read, in pages, the one with the newest judgment first.

    Archived ones are left out unless they are asked for.
    """
    viewer, cursor, state = request[VIEWER], request.query.get("after"), request.query.get("state")
    after = None if cursor is None else place_of(cursor)
    if cursor is not None and after is None:
        raise RequestError(422, "invalid_value", "`after` must be `next` of the page before", field="after")
    if state is not None and state not in SHOWN_STATES:
        raise RequestError(422, "invalid_value", f"`state` must be one of {', '.join(SHOWN_STATES)}", field="state")
    limit = number(request, "limit", default=PAGE_ROWS, least=1, most=MOST_CAMPAIGNS)
    page = await site.overviews.page(viewer.campaigns, viewer.covers, state=state, after=after, limit=limit)
    return json_response(page)


async def campaign(site: Site, request: web.Request) -> web.Response:
    """Summary and settings of one campaign."""
    return json_response(await site.queries.campaign(campaign_name(request)))


async def leaderboard(site: Site, request: web.Request) -> web.Response:
    """The newest leaderboard, of all judgments, one category or one judge, with scores as gaps or as Elo points."""
    scale, anchor = choice(request, "scale", "score", "elo"), text(request, "anchor")
    board = await _find_board(site, request)
    try:
        return json_response(on_scale(board, check_scale(scale, anchor), anchor=anchor))
    except ParameterError as error:
        field = "scale" if anchor is None else "anchor"
        raise RequestError(422, "invalid_value", str(error), field=field) from None


async def _find_board(site: Site, request: web.Request) -> Leaderboard:
    name, tag, value = campaign_name(request), text(request, "tag"), text(request, "value")
    if (judge := text(request, "judge")) is not None:
        if tag is not None or value is not None:
            raise RequestError(422, "invalid_value", "`judge` and `tag` do not go together", field="judge")
        return await _find_judge_board(site, request, judge)
    if tag is None and value is None:
        return await site.queries.leaderboard(name)
    if tag is None or value is None:
        raise RequestError(
            422, "invalid_value", "`tag` and `value` go together", field="tag" if tag is None else "value"
        )
    try:
        return await site.queries.category_leaderboard(name, tag, value)
    except ParameterError as error:
        raise RequestError(404, "unknown_category", str(error), field="value") from None


async def _find_judge_board(site: Site, request: web.Request, judge: str) -> Leaderboard:
    """Return the leaderboard of one judge. It is for operators, as the command line is, and the log is read for it."""
    name = campaign_name(request)
    site.access.check(request.get(TOKEN), ("operate",), name)
    if not is_pseudonym(judge.removeprefix(MARK)):
        message = (
            f"`judge` must be a pseudonym, as /campaigns/{name}/judges lists them. An id is not accepted here, because "
            "the addresses of requests are often logged; `judgestream leaderboard --judge` takes one"
        )
        raise RequestError(422, "invalid_value", message, field="judge")
    if not site.settings.judge_key:
        message = "this monitor can't rate the log; set JUDGESTREAM_JUDGE_KEY to the key of the workers"
        raise RequestError(503, "unavailable", message, field="judge")
    try:
        board = await site.queries.judge_leaderboard(name, judge.removeprefix(MARK))
    except UnknownCampaign:
        raise
    except JudgestreamError as error:  # it is being read already, its beginning or a right is missing, ...
        raise too_busy(str(error)) from None
    if board is None:
        raise RequestError(404, "unknown_judge", f"the campaign {name!r} has no such judge", field="judge")
    return board


async def categories(site: Site, request: web.Request) -> web.Response:
    """Which leaderboards by category there are, and how many judgments are on none of a tag."""
    return json_response(await site.queries.categories(campaign_name(request)))


async def ratings(site: Site, request: web.Request) -> web.Response:
    """The rating of every system."""
    return json_response(await site.queries.ratings(campaign_name(request)))


async def judges(site: Site, request: web.Request) -> web.Response:
    """The judges, by pseudonym, in pages."""
    order = choice(request, "order", "first", "suspicious")
    return json_response(
        await site.queries.judges(
            campaign_name(request),
            order=cast("JudgeOrder", order),
            after=request.query.get("after"),
            limit=number(request, "limit", default=1000),
        )
    )


async def segments(site: Site, request: web.Request) -> web.Response:
    """The segments by information or by number of judgments, in pages."""
    order = choice(request, "order", "information", "judgments")
    return json_response(
        await site.queries.segments(
            campaign_name(request),
            order=cast("SegmentOrder", order),
            after=request.query.get("after"),
            limit=number(request, "limit", default=100),
        )
    )


async def pairs(site: Site, request: web.Request) -> web.Response:
    """Wins, ties and losses of each pair of systems, in the two halves of the campaign."""
    return json_response(await site.queries.pairs(campaign_name(request)))


async def history(site: Site, request: web.Request) -> web.Response:
    """The ratings over time."""
    after = number(request, "after", default=-1, most=2**53)
    return json_response(await site.queries.history(campaign_name(request), after=after))


async def requests(site: Site, request: web.Request) -> web.Response:
    """The outstanding match requests."""
    return json_response(await site.queries.requests(campaign_name(request)))


async def rejections(site: Site, request: web.Request) -> web.Response:
    """The latest rejections with their reasons, of all records or of one judgment or command."""
    limit, judgment = number(request, "limit", default=50), judgment_id(request)
    return json_response(await site.queries.rejections(campaign_name(request), limit=limit, judgment=judgment))


async def judgment_outcome(site: Site, request: web.Request) -> web.Response:
    """What became of a judgment."""
    return json_response(await site.queries.outcome(campaign_name(request), event_id(request), of="judgment"))


async def command_outcome(site: Site, request: web.Request) -> web.Response:
    """What became of a command."""
    return json_response(await site.queries.outcome(campaign_name(request), event_id(request), of="command"))


async def events(site: Site, request: web.Request) -> web.StreamResponse:
    """Changes of all campaigns, as server-sent events."""
    return await _stream(site, request, site.hub.follow_all(request[VIEWER]))


async def campaign_events(site: Site, request: web.Request) -> web.StreamResponse:
    """Changes of one campaign, as server-sent events."""
    return await _stream(site, request, site.hub.follow_campaign(campaign_name(request), request[VIEWER]))


async def _stream(site: Site, request: web.Request, messages: AsyncIterator[bytes]) -> web.StreamResponse:
    """Send messages as they come, until either side closes. An unknown campaign is an error before anything is sent."""
    with site.streams.hold(site.addresses.of(request)) as full:
        if full == "sender":
            raise too_many("too many event streams from this address", seconds=RETRY_SECONDS)
        if full == "all":
            raise too_busy("this monitor has no room for another event stream")
        return await _send(request, messages)


async def _send(request: web.Request, messages: AsyncIterator[bytes]) -> web.StreamResponse:
    iterator = aiter(messages)
    first = await anext(iterator)
    response = web.StreamResponse(
        headers={**UNCACHED, "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}
    )
    try:
        await response.prepare(request)
        await response.write(first)
        async for message in iterator:
            async with asyncio.timeout(STALLED_SECONDS):
                await response.write(message)
    except ConnectionResetError:
        pass  # the client closed the connection, as most do
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()  # the client does not read
    finally:
        await iterator.aclose()  # type: ignore[attr-defined]
    return response
