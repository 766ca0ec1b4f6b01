"""The intake for platforms without a Kafka client: judgments and commands are checked and published."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
from msgspec import Struct

from streams.core.campaign.admission import StatusAdmission, describe_end
from streams.core.campaign.pseudonyms import MARK
from streams.core.campaign.request_ids import request_key
from streams.errors import RecordError, StoreCorrupt, StoreUnavailable
from streams.monitor.http.responses import RequestError
from streams.monitor.state.lookup import UnknownCampaign
from streams.stores.judges import find_judge
from streams.wire.events import ENDED, ExcludeJudge, ForgetJudge, JudgeCommand, JudgesCommand, Retract
from streams.wire.quarantine import describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.metrics import MonitorMetrics
    from streams.monitor.http.bodies import PostedJudgments
    from streams.monitor.http.judge_names import JudgeNames
    from streams.monitor.state.metas import CampaignMetas
    from streams.monitor.state.monitor import Monitor
    from streams.settings import Settings
    from streams.wire.events import CampaignStatus, Command, Judgment, RevokeVerdicts

FUTURE = timedelta(minutes=5)  # how much the clock of a platform may be ahead
STATUS_SECONDS = 1.0  # a status is read again after this time, and before a judgment is refused
MOST_CAMPAIGNS = 1000  # whose checks are cached
OUTCOME = "/campaigns/{campaign}/{kind}/{id}"


class AcceptedPayload(Struct, frozen=True, kw_only=True):
    """The judgments, or what takes them back, that the broker has. A worker still has to apply it.

    `outcome` is where to ask what it did.

    Replace `{id}` by one of the ids, percent-encoded.
    """

    accepted: int
    ids: list[str]
    outcome: str


class AcceptedCommandPayload(Struct, frozen=True, kw_only=True):
    """A command that the broker has. A worker still has to apply it; `outcome` is where to ask what it did."""

    id: str
    outcome: str


class Intake:
    """Accepts judgments and commands. What the status of a campaign rules out is refused at once.

    The id of a judge is replaced by a pseudonym before anything else is done.
    """

    def __init__(
        self, monitor: Monitor, metas: CampaignMetas, judges: JudgeNames, settings: Settings, metrics: MonitorMetrics
    ) -> None:
        self._monitor = monitor
        self._metas = metas
        self._judges = judges
        self._metrics = metrics
        self._lease_seconds = settings.monitor_lease_seconds
        self._creates_unknown = settings.unknown_campaign == "create"
        self._request_key = request_key(judges.key) if judges.key else None
        self._admission: dict[str, StatusAdmission] = {}  # by campaign

    async def accept(self, campaign: str, posted: PostedJudgments) -> AcceptedPayload:
        """Publish judgments of one campaign, or none of them. Return when the broker has them.

        Raise RecordError for the first judgment that a worker would reject, as far as the campaign's status tells.
        """
        posted = posted.replace_each(self._judges.replace_in_judgment)
        posted.check_each(partial(_check_time, now=datetime.now(UTC)))
        with suppress(StoreUnavailable, StoreCorrupt):  # then only the worker checks them
            try:
                await self._check(campaign, posted, within=STATUS_SECONDS)
            except (RecordError, RequestError, UnknownCampaign):
                await self._check(campaign, posted, within=0.0)  # the status may have changed since it was read
        judgments = posted.judgments
        if judgments:
            with self._metrics.publish_seconds.time():
                await self._monitor.backend.publish(judgments)
            self._metrics.judgments_published.inc(len(judgments))
            await self._complete_leases(campaign, judgments)
        return AcceptedPayload(
            accepted=len(judgments),
            ids=[judgment.id for judgment in judgments],
            outcome=OUTCOME.format(campaign=campaign, kind="judgments", id="{id}"),
        )

    async def _check(self, campaign: str, posted: PostedJudgments, *, within: float) -> None:
        meta = await self._metas.find(campaign, within=within)
        if meta is None:
            if not self._creates_unknown:
                raise UnknownCampaign(f"there is no campaign {campaign!r}; `create` it first")
            return  # its settings may be on their way to the worker
        check_quarantine(meta.status)
        admission = self._admission.get(campaign)
        if admission is None or admission.status is not meta.status:
            if len(self._admission) > MOST_CAMPAIGNS:
                self._admission.clear()
            admission = self._admission[campaign] = StatusAdmission(meta.status, request_key=self._request_key)
        check = admission.check
        posted.check_each(lambda judgment: check(judgment, self._judges.pseudonym(judgment.judge)))

    async def _complete_leases(self, campaign: str, judgments: Sequence[Judgment]) -> None:
        """End the leases of answered requests. If the ledger is away, they expire by themselves."""
        answered = [judgment.request for judgment in judgments if judgment.request is not None]
        if not answered:
            return
        ledger, seconds = self._monitor.backend.ledger, self._lease_seconds

        def complete_all() -> None:
            for request in answered:
                ledger.complete(campaign, request, seconds=seconds)

        with suppress(StoreUnavailable):
            await self._monitor.backend.run(complete_all)

    async def revoke(self, command: RevokeVerdicts, *, by: str) -> AcceptedPayload:
        """Publish the command that takes back verdicts. Return when the broker has it.

        Raise if the campaign does not exist, or takes no commands any more.
        """
        meta = await self._metas.read(command.campaign)
        if meta.status.state in ENDED:
            raise RequestError(409, "campaign_closed", describe_end(meta.status), field="campaign")
        check_quarantine(meta.status)
        sent = await self.send_command(command, by=by)
        return AcceptedPayload(accepted=len(command.judgments), ids=list(command.judgments), outcome=sent.outcome)

    async def send_command(self, command: Command, *, by: str) -> AcceptedCommandPayload:
        """Publish a command in the name of a token. Return when the broker has it."""
        backend = self._monitor.backend
        if isinstance(command, Retract) and command.taken_back:
            message = "only a worker sends `taken_back`; name `judgments` or a `judge`, or send `revoke`"
            raise RecordError("invalid_value", message, field="taken_back")
        if isinstance(command, JudgeCommand) and command.judge is not None:
            command = msgspec.structs.replace(command, judge=await self._find_judge(command, command.judge))
        elif isinstance(command, JudgesCommand):
            judges = [await self._find_judge(command, judge) for judge in command.judges]
            command = msgspec.structs.replace(command, judges=tuple(judges))
        await backend.publish([msgspec.structs.replace(command, by=by)])
        if isinstance(command, ForgetJudge):
            await backend.run(backend.ledger.forget_judge, command.campaign, command.judge.removeprefix(MARK))
        place = OUTCOME.format(campaign=command.campaign, kind="commands", id=quote(command.id, safe=""))
        return AcceptedCommandPayload(id=command.id, outcome=place)

    async def _find_judge(self, command: JudgeCommand | JudgesCommand, judge: str) -> str:
        """Return the judge of a command as it is published. Raise if the campaign does not know them."""
        await self._metas.read(command.campaign)
        backend = self._monitor.backend
        found = await backend.run(find_judge, backend.store, command.campaign, judge, self._judges.key)
        if found is not None:
            return found.on_the_wire
        pseudonym = MARK + self._judges.pseudonym(judge)
        if isinstance(command, ExcludeJudge) and judge == pseudonym:
            return pseudonym
        message = (
            f"the campaign {command.campaign!r} has no such judge, by pseudonym or by id. To exclude one who has not "
            "judged yet, send `~` and the pseudonym"
        )
        raise RequestError(404, "unknown_judge", message, field="judge")


def _check_time(judgment: Judgment, *, now: datetime) -> None:
    if judgment.at > now + FUTURE:
        here = now.isoformat(timespec="seconds")
        message = f"`at` is {judgment.at.isoformat()}, and it is {here} here; correct the clock of the platform"
        raise RecordError("in_the_future", message, field="at")


def check_quarantine(status: CampaignStatus) -> None:
    """Raise if a campaign waits for an operator. Any other quarantine ends by itself."""
    quarantine = status.quarantine
    if quarantine is not None and quarantine.cause == "fault":
        text = describe_quarantine(status.campaign, quarantine)
        raise RequestError(409, "campaign_quarantined", text, field="campaign")
