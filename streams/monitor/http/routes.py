"""The table of routes. The application and the OpenAPI document are built from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from streams.monitor.http.handlers import health, parameters, read, session, write
from streams.monitor.http.intake import AcceptedCommandPayload, AcceptedPayload
from streams.monitor.http.matches import NextMatchPayload
from streams.monitor.state.overviews import CURSOR, PAGE_ROWS
from streams.monitor.state.payloads import (
    CampaignPayload,
    CampaignsPayload,
    CategoriesPayload,
    HistoryPayload,
    JudgesPayload,
    OutcomePayload,
    PairsPayload,
    RatingsPayload,
    RejectionsPayload,
    RequestsPayload,
    SegmentsPayload,
    StatusPayload,
)
from streams.wire.events import Leaderboard
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp import web

    from streams.monitor.http.app import Site

    Handler = Callable[[Site, web.Request], Awaitable[web.StreamResponse]]

Need = Literal["open", "read", "judge", "publish", "operate"]
Body = Literal["judgments", "label-studio", "revoke", "command", "next-match", "held-match", "token"]
CAMPAIGN = "/campaigns/{campaign}"
TEXT, HTML, EVENTS, ANY_JSON = "text/plain", "text/html", "text/event-stream", "application/json"


@dataclass(frozen=True, kw_only=True)
class QueryParameter:
    """A query parameter with its JSON Schema."""

    name: str
    about: str
    schema: dict[str, Any]
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Route:
    """A method and a path: the scope it needs, and the response, which is a Struct as JSON or another content type."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    handler: Handler
    response: type | str | None = None
    success: int = 200
    needs: Need = "read"
    also: tuple[Need, ...] = ()  # other scopes: with them some bodies are accepted, or what was sent may be read
    query: tuple[QueryParameter, ...] = ()
    body: Body | None = None
    errors: tuple[int, ...] = ()
    limited: bool = True

    @property
    def scopes(self) -> tuple[str, ...]:
        """Return the scopes of which a token needs one."""
        return (self.needs, *self.also)

    @property
    def name(self) -> str:
        """Return the name of the handler, which is the operation id."""
        return self.handler.__name__


def _limit(default: int, *, least: int = 0, most: int = parameters.MOST_ROWS) -> QueryParameter:
    schema = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return QueryParameter(name="limit", about="Largest number of rows.", schema=schema)


def _posting(path: str, handler: Handler, *, body: Body, also: tuple[Need, ...] = ()) -> Route:
    return Route(
        method="POST",
        path=f"{CAMPAIGN}{path}",
        handler=handler,
        response=AcceptedPayload,
        success=202,
        needs="publish",
        also=also,
        body=body,
        errors=(403, 404, 409, 422, 503),
    )


SCALE = QueryParameter(
    name="scale",
    about="Unit of the scores: gaps, or Elo points with 1000 at the mean of the systems.",
    schema={"type": "string", "enum": ["score", "elo"], "default": "score"},
)
ANCHOR = QueryParameter(
    name="anchor",
    about="System with 1000 Elo points.",
    schema={"type": "string", "minLength": 1, "maxLength": MAX_NAME},
)
TAG = QueryParameter(
    name="tag",
    about="Tag of the setting `boards`: the leaderboard of one of its values, named by `value`.",
    schema={"type": "string", "minLength": 1, "maxLength": MAX_NAME},
)
VALUE = QueryParameter(
    name="value",
    about="Value of the `tag`.",
    schema={"type": "string", "minLength": 1, "maxLength": MAX_NAME},
)
JUDGE = QueryParameter(
    name="judge",
    about="Pseudonym of a judge: the leaderboard of their judgments alone, rated again from the log. It needs a token "
    "with the scope `operate`, and can't be combined with `tag`.",
    schema={"type": "string", "minLength": 1, "maxLength": MAX_NAME},
)
JUDGE_ORDER = QueryParameter(
    name="order",
    about="By their first judgment, or first those with a reason to check them, then by number of judgments.",
    schema={"type": "string", "enum": ["first", "suspicious"], "default": "first"},
)
SEGMENT_ORDER = QueryParameter(
    name="order",
    about="Sort by expected information about the next line between clusters, or by number of judgments.",
    schema={"type": "string", "enum": ["information", "judgments"], "default": "information"},
)
NEXT_PAGE = QueryParameter(
    name="after",
    about="The `next` of the page before: only rows after this one.",
    schema={"type": "string", "minLength": 1, "maxLength": MAX_NAME},
)
STATE = QueryParameter(
    name="state",
    about="Only campaigns in this state. Without it, all that are not archived.",
    schema={"type": "string", "enum": list(read.SHOWN_STATES)},
)
AFTER = QueryParameter(
    name="after",
    about="Only samples with a greater sequence number.",
    schema={"type": "integer", "minimum": 0, "maximum": 2**53},
)
PAGE_AFTER = QueryParameter(
    name="after",
    about="Only campaigns after this place: `next` of the page before.",
    schema={"type": "string", "pattern": f"^{CURSOR.pattern}$"},
)
JUDGMENT = QueryParameter(
    name="judgment",
    about="Only rejections of the judgment or command with this id.",
    schema={"type": "string", "minLength": 1, "maxLength": MAX_NAME},
)

ROUTES = (
    # First, because routes are searched in this order and this one is used most.
    _posting("/judgments", write.post_judgments, body="judgments", also=("judge",)),
    Route(method="GET", path="/", handler=read.page, response=HTML, needs="open"),
    Route(
        method="GET",
        path="/campaigns",
        handler=read.campaigns,
        response=CampaignsPayload,
        query=(STATE, _limit(PAGE_ROWS, least=1, most=parameters.MOST_CAMPAIGNS), PAGE_AFTER),
        errors=(422, 503),
    ),
    *(
        Route(method="GET", path=f"{CAMPAIGN}{path}", handler=handler, response=response, query=query, errors=errors)
        for path, handler, response, query, errors in (
            ("", read.campaign, CampaignPayload, (), (404, 503)),
            ("/leaderboard", read.leaderboard, Leaderboard, (SCALE, ANCHOR, TAG, VALUE, JUDGE), (404, 422, 503)),
            ("/categories", read.categories, CategoriesPayload, (), (404, 503)),
            ("/ratings", read.ratings, RatingsPayload, (), (404, 503)),
            ("/judges", read.judges, JudgesPayload, (JUDGE_ORDER, NEXT_PAGE, _limit(1000)), (404, 422, 503)),
            ("/segments", read.segments, SegmentsPayload, (SEGMENT_ORDER, NEXT_PAGE, _limit(100)), (404, 422, 503)),
            ("/pairs", read.pairs, PairsPayload, (), (404, 503)),
            ("/history", read.history, HistoryPayload, (AFTER,), (404, 422, 503)),
            ("/requests", read.requests, RequestsPayload, (), (404, 503)),
            ("/rejections", read.rejections, RejectionsPayload, (JUDGMENT, _limit(50)), (404, 422, 503)),
            ("/events", read.campaign_events, EVENTS, (), (404, 503)),
        )
    ),
    *(
        Route(
            method="GET",
            path=f"{CAMPAIGN}{path}",
            handler=handler,
            response=OutcomePayload,
            also=("judge", "publish", "operate"),
            errors=(404, 422, 503),
        )
        for path, handler in (("/judgments/{id}", read.judgment_outcome), ("/commands/{id}", read.command_outcome))
    ),
    Route(method="GET", path="/events", handler=read.events, response=EVENTS, errors=(503,)),
    _posting("/label-studio", write.post_label_studio, body="label-studio"),
    _posting("/revoke", write.revoke, body="revoke"),
    Route(
        method="POST",
        path=f"{CAMPAIGN}/commands",
        handler=write.post_command,
        response=AcceptedCommandPayload,
        success=202,
        needs="operate",
        body="command",
        errors=(404, 422, 503),
    ),
    Route(
        method="POST",
        path=f"{CAMPAIGN}/next-match",
        handler=write.next_match,
        response=NextMatchPayload,
        needs="judge",
        body="next-match",
        errors=(404, 409, 422, 503),
    ),
    *(
        Route(
            method="POST",
            path=f"{CAMPAIGN}/matches/{path}",
            handler=handler,
            needs="judge",
            body="held-match",
            errors=(404, 422, 503),
        )
        for path, handler in (("return", write.return_match), ("skip", write.skip_match))
    ),
    Route(
        method="POST",
        path="/session",
        handler=session.open_session,
        needs="open",
        body="token",
        errors=(401, 403, 422, 503),
    ),
    Route(method="DELETE", path="/session", handler=session.close_session, needs="open", errors=(503,)),
    Route(method="GET", path="/status", handler=health.status, response=StatusPayload),
    Route(method="GET", path="/metrics", handler=health.metrics, response=TEXT),
    Route(method="GET", path="/healthz", handler=health.live, response=TEXT, needs="open", limited=False),
    Route(method="GET", path="/readyz", handler=health.ready, response=TEXT, needs="open", limited=False),
    Route(method="GET", path="/openapi.json", handler=health.openapi, response=ANY_JSON, needs="open"),
)
