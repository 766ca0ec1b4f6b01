"""Handlers that write: judgments, commands, and leases of match requests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from aiohttp import web

from streams.monitor.http.access import TOKEN, check_answers
from streams.monitor.http.bodies import (
    NDJSON,
    command_in,
    judgments_in,
    label_studio_judgments,
    label_studio_revocation,
    read_body,
    revocation,
)
from streams.monitor.http.handlers.parameters import campaign_name, new_campaign_name
from streams.monitor.http.matches import HeldMatchBody, NextMatchBody
from streams.monitor.http.responses import JSON, UNCACHED, RequestError, json_response

if TYPE_CHECKING:
    from streams.monitor.http.app import Site


async def post_judgments(site: Site, request: web.Request) -> web.Response:
    """Append judgments to the log. The response comes when the broker has them. A known id changes nothing."""
    name = new_campaign_name(request)
    _check_type(request, JSON, NDJSON)
    posted = judgments_in(
        await request.read(),
        campaign=name,
        now=datetime.now(UTC),
        max_bytes=site.settings.max_record_bytes,
        in_lines=request.content_type == NDJSON,
    )
    check_answers(request[TOKEN], posted.judgments)
    await site.beginnings.check(name, request[TOKEN].name)
    return json_response(await site.intake.accept(name, posted), status=202)


async def post_label_studio(site: Site, request: web.Request) -> web.Response:
    """Accept a webhook of Label Studio, as it is sent."""
    name = new_campaign_name(request)
    _check_type(request, JSON)
    body, now = await request.read(), datetime.now(UTC)
    if (command := label_studio_revocation(body, campaign=name, now=now)) is not None:
        return json_response(await site.intake.revoke(command, by=request[TOKEN].name), status=202)
    posted = label_studio_judgments(body, campaign=name, now=now)
    if posted.judgments:
        await site.beginnings.check(name, request[TOKEN].name)
    return json_response(await site.intake.accept(name, posted), status=202)


async def revoke(site: Site, request: web.Request) -> web.Response:
    """Take back verdicts that their judge has deleted. The response comes when the broker has the command."""
    name = campaign_name(request)
    _check_type(request, JSON)
    command = revocation(await request.read(), campaign=name, now=datetime.now(UTC))
    return json_response(await site.intake.revoke(command, by=request[TOKEN].name), status=202)


async def post_command(site: Site, request: web.Request) -> web.Response:
    """Send a command to a campaign. The response comes when the broker has it."""
    name = new_campaign_name(request)
    _check_type(request, JSON)
    command = command_in(
        await request.read(), campaign=name, now=datetime.now(UTC), max_bytes=site.settings.max_record_bytes
    )
    return json_response(await site.intake.send_command(command, by=request[TOKEN].name), status=202)


async def next_match(site: Site, request: web.Request) -> web.Response:
    """The next matches for a judge, leased to them until they expire."""
    _check_type(request, JSON)
    body = read_body(await request.read(), NextMatchBody)
    found = await site.matches.next_matches(campaign_name(request), judge=body.judge, count=body.count)
    return json_response(found)


async def return_match(site: Site, request: web.Request) -> web.Response:
    """Return a match. Others may have it at once, and this judge may get it again."""
    return await _give_back(site, request, again=True)


async def skip_match(site: Site, request: web.Request) -> web.Response:
    """Skip a match. Others may have it at once, and this judge never gets it again."""
    return await _give_back(site, request, again=False)


async def _give_back(site: Site, request: web.Request, *, again: bool) -> web.Response:
    _check_type(request, JSON)
    body = read_body(await request.read(), HeldMatchBody)
    await site.matches.give_back(campaign_name(request), judge=body.judge, request=body.request, again=again)
    return web.Response(status=204, headers=UNCACHED)


def _check_type(request: web.Request, *types: str) -> None:
    if request.content_type not in types:
        raise RequestError(415, "unsupported_type", f"send {' or '.join(types)}", field="Content-Type")
