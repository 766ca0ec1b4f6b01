"""Handlers that write: judgments, and leases of match requests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from streams.monitor.http.access import TOKEN, check_answers
from streams.monitor.http.bodies import NDJSON, judgments_in, label_studio_judgments
from streams.monitor.http.handlers.parameters import campaign_name, judge_id, new_campaign_name
from streams.monitor.http.responses import JSON, RequestError, json_response

if TYPE_CHECKING:
    from aiohttp import web

    from streams.monitor.http.app import Site


async def post_judgments(site: Site, request: web.Request) -> web.Response:
    """Append judgments to the log. The response comes when the broker has them. A known id changes nothing."""
    name = new_campaign_name(request)
    if request.content_type not in (JSON, NDJSON):
        raise RequestError(415, "unsupported_type", f"send {JSON} or {NDJSON}", field="Content-Type")
    judgments = judgments_in(
        await request.read(),
        campaign=name,
        now=datetime.now(UTC),
        max_bytes=site.settings.max_record_bytes,
        in_lines=request.content_type == NDJSON,
    )
    check_answers(request[TOKEN], judgments)
    return json_response(await site.intake.accept(name, judgments))


async def post_label_studio(site: Site, request: web.Request) -> web.Response:
    """Accept a webhook of Label Studio, as it is sent."""
    name = new_campaign_name(request)
    if request.content_type != JSON:
        raise RequestError(415, "unsupported_type", f"send {JSON}", field="Content-Type")
    judgments = label_studio_judgments(await request.read(), campaign=name, now=datetime.now(UTC))
    return json_response(await site.intake.accept(name, judgments))


async def next_match(site: Site, request: web.Request) -> web.Response:
    """The next match for a judge, leased to them until it expires."""
    judge = judge_id(request)
    return json_response(await site.intake.next_match(campaign_name(request), judge))
