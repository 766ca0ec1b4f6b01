"""A campaign as it was at an offset or a time: its log in Kafka, rated again beside the state in Redis."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from streams.errors import JudgestreamError, ParameterError, SettingError, suggestion
from streams.kafka.admin import count_log_partitions
from streams.kafka.partitioned_log import PartitionedLog, read_log
from streams.pipeline.one_judge import LogOfOneJudge, options_of_one_judge
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.past import rate_until
from streams.rebuild.rerun import FreshStore
from streams.stores.redis.store import RedisStore
from streams.wire.events import LATEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.campaign.campaign import Campaign
    from streams.settings import Settings

    Progress = Callable[[int, int], None]  # records rated, and their total number

MILLISECOND = timedelta(milliseconds=1)  # the times of Kafka


@dataclass(frozen=True, kw_only=True)
class PastCampaign:
    """A campaign up to `offset` of its partition, and the offset of the last record there is."""

    campaign: Campaign
    partition: str
    offset: int
    last: int


def read_past(
    settings: Settings, name: str, at: int | datetime = LATEST, *, progress: Progress, judge: str | None = None
) -> PastCampaign:
    """Rate a campaign again up to an offset, or up to what Kafka had at a time. Both include the record there.

    With the pseudonym of a `judge`, only their judgments are rated. Nothing is changed. Raise ParameterError if the
    offset is not in the log, and JudgestreamError if the campaign was not there yet, was deleted, or can't be rated.
    """
    if not settings.judge_key:
        raise SettingError("judge_key is not set; set JUDGESTREAM_JUDGE_KEY to the secret that the workers have")
    with closing(RedisStore(settings.redis, namespace=settings.namespace)) as store:
        count = count_log_partitions(settings)
        with PartitionedLog.open(settings) as log:
            partitions = [log.name(number) for number in range(count)]
            home = store.read_head(name).get("partition")
            if home not in partitions:
                known = store.list_campaigns(partitions)
                raise JudgestreamError(
                    f"no campaign {name!r}; {suggestion(name, known) if known else 'there is none yet'}"
                )
            number = partitions.index(home)
            last = log.end(number) - 1
            if isinstance(at, datetime):
                at = min(log.offset_since(number, min(at, LATEST) + MILLISECOND) - 1, last)
        if at > last:
            raise ParameterError(f"at: the offset {at} is not in the log; the last one of {home} is {last}")
        options, read = ProcessorOptions.from_settings(settings), partial(read_log, settings, number)
        if judge is not None:
            options = options_of_one_judge(options, judge)
        campaign = rate_until(
            at + 1,
            name,
            topic=log.topic,
            partition=number,
            store=FreshStore(store, {}),
            options=options,
            read_log=read if judge is None else LogOfOneJudge(read, name, options),
            advance=lambda done: progress(done, at + 1),
        )
        if campaign is None:
            raise JudgestreamError(f"{home} has no record of the campaign {name!r} up to offset {at}")
        if campaign.status.state == "deleted":
            raise JudgestreamError(f"the campaign {name!r} was deleted at offset {campaign.offset}")
        return PastCampaign(campaign=campaign, partition=home, offset=at, last=last)
