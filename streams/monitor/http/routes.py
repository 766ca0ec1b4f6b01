"""All that can be asked, in one table: the application is built from it, and so is the OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from streams.monitor.http import handlers
from streams.monitor.http.intake import AcceptedPayload, NextMatchPayload
from streams.monitor.state.payloads import (
    CampaignPayload,
    CampaignsPayload,
    HistoryPayload,
    JudgesPayload,
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

Kind = Literal["open", "read", "write"]
CAMPAIGN = "/campaigns/{campaign}"
TEXT, HTML, EVENTS, ANY_JSON = "text/plain", "text/html", "text/event-stream", "application/json"


@dataclass(frozen=True, kw_only=True)
class Query:
    """A parameter of a query, with its JSON Schema."""

    name: str
    about: str
    schema: dict[str, Any]
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Route:
    """One thing that can be asked: who may, and what comes back, a Struct as JSON or another type of content."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    handler: Handler
    answer: type | str | None = None
    needs: Kind = "read"
    query: tuple[Query, ...] = ()
    body: Literal["judgments", "label-studio", "token"] | None = None
    errors: tuple[int, ...] = ()
    limited: bool = True

    @property
    def name(self) -> str:
        """Name it: what the handler is called."""
        return self.handler.__name__


def _limit(default: int) -> Query:
    schema = {"type": "integer", "minimum": 0, "maximum": handlers.MOST_ROWS, "default": default}
    return Query(name="limit", about="At most so many.", schema=schema)


ORDER = Query(
    name="order",
    about="By what a verdict on it tells about the next line, or by how often it was judged.",
    schema={"type": "string", "enum": ["information", "judgments"], "default": "information"},
)
AFTER = Query(
    name="after",
    about="Only samples of a greater sequence.",
    schema={"type": "integer", "minimum": 0, "maximum": 2**53},
)
JUDGE = Query(
    name="judge",
    about="The judge's id, as in their judgments; only its pseudonym is kept.",
    schema={"type": "string", "minLength": 1, "maxLength": MAX_NAME},
    required=True,
)

ROUTES = (
    # The first is found quickest, and this one is asked for most.
    Route(
        method="POST",
        path=f"{CAMPAIGN}/judgments",
        handler=handlers.post_judgments,
        answer=AcceptedPayload,
        needs="write",
        body="judgments",
        errors=(409, 413, 415, 422, 503),
    ),
    Route(method="GET", path="/", handler=handlers.page, answer=HTML, needs="open"),
    Route(method="GET", path="/campaigns", handler=handlers.campaigns, answer=CampaignsPayload, errors=(503,)),
    *(
        Route(method="GET", path=f"{CAMPAIGN}{path}", handler=handler, answer=reply, query=query, errors=errors)
        for path, handler, reply, query, errors in (
            ("", handlers.campaign, CampaignPayload, (), (404, 503)),
            ("/leaderboard", handlers.leaderboard, Leaderboard, (), (404, 503)),
            ("/ratings", handlers.ratings, RatingsPayload, (), (404, 503)),
            ("/judges", handlers.judges, JudgesPayload, (), (404, 503)),
            ("/segments", handlers.segments, SegmentsPayload, (ORDER, _limit(100)), (404, 422, 503)),
            ("/pairs", handlers.pairs, PairsPayload, (), (404, 503)),
            ("/history", handlers.history, HistoryPayload, (AFTER,), (404, 422, 503)),
            ("/requests", handlers.requests, RequestsPayload, (), (404, 503)),
            ("/rejections", handlers.rejections, RejectionsPayload, (_limit(50),), (404, 422, 503)),
            ("/events", handlers.campaign_events, EVENTS, (), (404, 503)),
        )
    ),
    Route(method="GET", path="/events", handler=handlers.events, answer=EVENTS, errors=(503,)),
    Route(
        method="POST",
        path=f"{CAMPAIGN}/label-studio",
        handler=handlers.post_label_studio,
        answer=AcceptedPayload,
        needs="write",
        body="label-studio",
        errors=(409, 413, 415, 422, 503),
    ),
    Route(
        method="GET",
        path=f"{CAMPAIGN}/next-match",
        handler=handlers.next_match,
        answer=NextMatchPayload,
        needs="write",
        query=(JUDGE,),
        errors=(404, 422, 503),
    ),
    Route(
        method="POST",
        path="/session",
        handler=handlers.open_session,
        needs="open",
        body="token",
        errors=(401, 413, 422),
    ),
    Route(method="DELETE", path="/session", handler=handlers.close_session, needs="open"),
    Route(method="GET", path="/status", handler=handlers.status, answer=StatusPayload),
    Route(method="GET", path="/metrics", handler=handlers.metrics, answer=TEXT),
    Route(method="GET", path="/healthz", handler=handlers.live, answer=TEXT, needs="open", limited=False),
    Route(method="GET", path="/readyz", handler=handlers.ready, answer=TEXT, needs="open", limited=False),
    Route(method="GET", path="/openapi.json", handler=handlers.openapi, answer=ANY_JSON, needs="open"),
)
