"""The parameters of a request, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.monitor.http.responses import RequestError
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.decoding import quote
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from aiohttp import web

MOST_ROWS = 10_000
MOST_CAMPAIGNS = 1000  # per page


def campaign_name(request: web.Request) -> str:
    """Return the campaign in the path."""
    return request.match_info["campaign"]


def new_campaign_name(request: web.Request) -> str:
    """Return the campaign in the path, which the request may create. Raise if it is not a valid name."""
    name = campaign_name(request)
    if not is_campaign_name(name):
        message = f"`campaign` is {quote(name)}; {CAMPAIGN_RULE}"
        raise RequestError(422, "invalid_value", message, field="campaign")
    return name


def choice(request: web.Request, name: str, default: str, other: str) -> str:
    """Return one of two words of the query, or the default."""
    value = request.query.get(name, default)
    if value not in (default, other):
        raise RequestError(422, "invalid_value", f"`{name}` must be {default} or {other}", field=name)
    return value


def number(request: web.Request, name: str, *, default: int, least: int = 0, most: int = MOST_ROWS) -> int:
    """Return a number of the query, or its default."""
    text = request.query.get(name)
    if text is None:
        return default
    value = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1
    if not least <= value <= most:
        raise RequestError(422, "invalid_value", f"`{name}` must be a number from {least} to {most}", field=name)
    return value


def event_id(request: web.Request) -> str:
    """Return the id of a judgment or command in the path."""
    return _checked_name(request.match_info["id"], "id")


def judgment_id(request: web.Request) -> str | None:
    """Return the judgment of the query, or None."""
    text = request.query.get("judgment")
    return None if text is None else _checked_name(text, "judgment")


def text(request: web.Request, name: str) -> str | None:
    """Return a name of the query, for example of a system, or None."""
    found = request.query.get(name)
    return None if found is None else _checked_name(found, name)


def _checked_name(text: str, name: str) -> str:
    if not 1 <= len(text) <= MAX_NAME:
        raise RequestError(422, "invalid_value", f"`{name}` must have 1 to {MAX_NAME} characters", field=name)
    return text
