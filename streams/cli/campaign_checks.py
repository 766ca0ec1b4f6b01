"""The check of all stored campaigns that `judgestream doctor` makes: each can be read, and is rated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.core.campaign.state import LAYOUT, newer_layout_error
from streams.errors import StoreCorrupt, StoreNewer, StoreOutdated
from streams.wire.quarantine import describe_error, way_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.stores import Store

UPDATE = "update Judgestream on this machine"


@dataclass(frozen=True)
class CampaignProblem:
    """What is wrong with a campaign, and what to do."""

    text: str
    fix: str


@dataclass
class CampaignChecks:
    """The number of stored campaigns, and those with a problem."""

    stored: int = 0
    rated_again: int = 0  # after a retraction, which is no problem
    problems: dict[str, CampaignProblem] = field(default_factory=dict)


def check_campaigns(store: Store, partitions: Sequence[str]) -> CampaignChecks:
    """Read every campaign. One that can't be read does not hide the others."""
    checks = CampaignChecks()
    for partition in partitions:
        layout = store.read_partition(partition).get("layout", "0")
        if int(layout) > LAYOUT:
            checks.problems[partition] = CampaignProblem(str(newer_layout_error(partition, layout)), UPDATE)
        lost = store.find_problems(partition)
        for name in store.list_campaigns([partition]):
            _check_campaign(store, name, lost.get(name), checks)
    return checks


def _check_campaign(store: Store, name: str, lost: str | None, checks: CampaignChecks) -> None:
    checks.stored += 1
    repair = f"a running worker repairs what is lost or can't be read; if none runs: judgestream rebuild {name}"
    try:
        meta = store.read_meta(name)
        if meta is not None and (quarantine := meta.status.quarantine) is not None:
            if quarantine.is_rated_again:
                checks.rated_again += 1
            else:
                fix = way_out(name) if quarantine.cause == "fault" else repair
                checks.problems[name] = CampaignProblem(f"quarantined: {quarantine.error}", fix)
            return
        if lost is None and (stored := store.read(name, with_seen=False)) is not None:
            ReadOnlyCampaign.restore(name, stored)
    except StoreNewer as error:
        checks.problems[name] = CampaignProblem(str(error), UPDATE)
    except StoreOutdated:
        checks.rated_again += 1
    except StoreCorrupt as error:
        checks.problems[name] = CampaignProblem(str(error), repair)
    except Exception as error:  # noqa: BLE001 - a fault in the code of one campaign must not hide the others
        checks.problems[name] = CampaignProblem(describe_error(error), way_out(name))
    else:
        if lost is not None:
            checks.problems[name] = CampaignProblem(lost, repair)
