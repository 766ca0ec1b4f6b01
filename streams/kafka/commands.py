"""Sending a command, and waiting for the worker's answer to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from streams.errors import NoAnswer, RecordError
from streams.kafka.admin import check_topics, find_partitions
from streams.kafka.consumers import open_consumer
from streams.kafka.publishing import OutgoingRecord, send_records
from streams.wire import topics
from streams.wire.events import CampaignStatus, Rejection, encode

if TYPE_CHECKING:
    from streams.kafka.consumers import Consumer
    from streams.settings import Settings
    from streams.wire.events import Command

POLL_MS = 200


def command_record(command: Command) -> OutgoingRecord:
    """Return the record of a command."""
    return OutgoingRecord(topics.COMMANDS, command.campaign.encode(), encode(command))


def send_command(settings: Settings, command: Command, *, timeout: float) -> CampaignStatus:
    """Send a command, and return the campaign's status after it.

    Raise RecordError if a worker refuses the command, and NoAnswer if none answers within `timeout` seconds.
    """
    check_topics(settings)
    return asyncio.run(_send(settings, command, patience=timeout))


async def _send(settings: Settings, command: Command, *, patience: float) -> CampaignStatus:
    found = await find_partitions(settings, topics.CAMPAIGNS, topics.REJECTED)
    answers = [partition for partitions in found.values() for partition in partitions]
    async with open_consumer(settings, answers) as consumer:
        # Records that are there before the command is sent are no answer to it.
        for partition, end in (await consumer.end_offsets(answers)).items():
            consumer.seek(partition, end)
        await send_records(settings, [command_record(command)])
        try:
            async with asyncio.timeout(patience):
                return await _wait_for_answer(settings, consumer, command.id)
        except TimeoutError:
            place = topics.COMMANDS.within(settings.namespace)
            raise NoAnswer(
                f"no answer within {patience:g} s; the command {command.id} is in {place} and takes effect "
                "when a worker reads it. Is a worker running? Check with: judgestream doctor"
            ) from None


async def _wait_for_answer(settings: Settings, consumer: Consumer, command: str) -> CampaignStatus:
    """Wait for the status or the rejection that names the command."""
    campaigns = topics.CAMPAIGNS.within(settings.namespace)
    while True:
        for partition, records in (await consumer.fetch(timeout_ms=POLL_MS)).items():
            for record in records:
                try:
                    if partition.topic == campaigns:
                        status = msgspec.json.decode(record.value or b"", type=CampaignStatus)
                        if status.command == command:
                            return status
                    else:
                        rejection = msgspec.json.decode(record.value or b"", type=Rejection)
                        if rejection.judgment == command:
                            raise RecordError(rejection.reason, rejection.message, field=rejection.field)
                except ValueError:
                    continue  # written by another version, so no answer to this command
