"""The state that replaces a campaign's stored one: what its log yields, with the outputs to emit for it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from streams.core.campaign.request_rows import RequestRows
from streams.core.campaign.state import CampaignChange, MetaEncoder, StoredCampaign, decode_meta, join_meta
from streams.errors import StoreCorrupt
from streams.wire import topics
from streams.wire.id_text import IdText

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from streams.core.campaign.state import CampaignMeta
    from streams.rebuild.differences import CampaignDifference
    from streams.stores.commit import Commit
    from streams.wire.events import MatchRequest
    from streams.wire.outputs import Output


class _Identified(Struct):
    id: str


class _Placed(Struct):
    offset: int


class Publications:
    """Outputs of a rerun that may have to be emitted: newest ratings and settings, open requests, late rejections."""

    def __init__(self) -> None:
        self._newest: defaultdict[str, dict[tuple[str, bytes | None], Output]] = defaultdict(dict)
        self._requests: defaultdict[str, dict[str, Output]] = defaultdict(dict)
        self._rejections: defaultdict[str, list[Output]] = defaultdict(list)
        self.without_campaign: list[Output] = []  # late rejections, and forwarded records
        self._held_from: dict[str, int] = {}  # where quarantines began

    def add(self, commit: Commit, *, emitted: int) -> None:
        """Add the outputs of a batch. A worker has already emitted the rejections up to the offset `emitted`."""
        if commit.after > emitted:
            self.without_campaign += commit.outbox
        for change in commit.campaigns:
            self.add_outputs(change.campaign, change.outbox, outstanding=None, emitted=emitted)
            asked = self._requests[change.campaign]
            for key in (asked.keys() - change.requests.keys()) if change.whole else change.ended:
                asked.pop(key, None)

    def add_outputs(
        self, name: str, outputs: Iterable[Output], *, outstanding: Collection[str] | None, emitted: int
    ) -> None:
        """Add outputs of a campaign. Of its requests only those that are outstanding stay, if that is known."""
        requests = self._requests[name]
        for output in outputs:
            if output.topic == topics.MATCH_REQUESTS.name:
                requests[msgspec.json.decode(output.value, type=_Identified).id] = output
            elif output.topic in (topics.RATINGS.name, topics.CAMPAIGNS.name):
                self._newest[name][output.topic, output.key] = output
            elif output.topic == topics.REJECTED.name:
                offset = msgspec.json.decode(output.value, type=_Placed).offset
                if offset >= min(emitted, self._held_from.get(name, emitted)):
                    self._rejections[name].append(output)
        if outstanding is not None:
            self._requests[name] = {key: output for key, output in requests.items() if key in outstanding}

    def hold(self, campaign: str, offset: int) -> None:
        """Remember that a campaign is quarantined: rejections from the offset on may not have been emitted."""
        self._held_from[campaign] = offset

    def outputs_for(self, difference: CampaignDifference, *, requests: bool, late: bool) -> tuple[Output, ...]:
        """Return what has to be emitted for a campaign that differs."""
        name = difference.campaign
        keys = {f"{name}/{system}".encode() for system in difference.means}
        newest = [output for (_, key), output in self._newest[name].items() if key in keys]
        if "standing" in difference.fields:
            newest += [output for (topic, _), output in self._newest[name].items() if topic == topics.CAMPAIGNS.name]
        asked = self._requests[name].values() if requests else ()
        late = late or name in self._held_from
        return (*(self._rejections[name] if late else ()), *newest, *asked)


def make_replacement(
    difference: CampaignDifference,
    *,
    live: StoredCampaign | None,
    log: StoredCampaign,
    publications: Publications,
    late: bool,
) -> CampaignChange:
    """Return the whole state that is to be swapped in.

    Outstanding requests stay those that were sent, if the live state still names them. Otherwise they are those of the
    rerun. Outputs that may not have been emitted stay in the outbox, and outputs that differ are emitted again.
    """
    meta = decode_meta(difference.campaign, log.meta)
    kept = _outstanding_requests(live, meta, log)
    more = publications.outputs_for(difference, requests=kept is None, late=late)
    encoded, status = MetaEncoder().encode(meta)
    outstanding = {request.id: request for request in (meta.outstanding if kept is None else kept)}
    return CampaignChange(
        campaign=difference.campaign,
        before=-1,
        after=meta.offset,
        whole=True,
        meta=encoded,
        status=status,
        tables=log.tables,
        scores=log.scores,
        withdrawn=(),
        seen=IdText.of(log.seen),
        seen_ids=max(1, len(log.seen)),
        outbox=tuple(dict.fromkeys((*(live.outbox if live else ()), *more))),
        requests=RequestRows().drain(outstanding)[0],
    )


def stored_form(change: CampaignChange) -> StoredCampaign:
    """Return what a store should read after it has written a whole state."""
    return StoredCampaign(
        meta=join_meta(change.meta, change.status, change.requests.values()),
        tables=change.tables,
        scores=change.scores,
        seen=change.seen.ids(),
        outbox=change.outbox,
        offset=change.after,
    )


def _outstanding_requests(
    live: StoredCampaign | None, meta: CampaignMeta, log: StoredCampaign
) -> tuple[MatchRequest, ...] | None:
    """Return the requests of a live state at the same offset of the log, or None if it can't be relied on."""
    if live is None:
        return None
    try:
        found = decode_meta(meta.status.campaign, live.meta)
    except StoreCorrupt:
        return None
    if found.status.quarantine is not None:
        return None  # the answers to them may be among the records that were held
    systems, segments = log.tables["systems"], log.tables["segments"]
    if found.offset != meta.offset or not all(
        (request.segment is None or request.segment in segments)
        and all(system in systems for system in request.systems)
        for request in found.outstanding
    ):
        return None
    return found.outstanding
