"""What a scan found and what was meant, in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streams.wire.events import EPOCH, Judgment, encode
from streams.wire.scanner import JudgmentColumns, Scanner
from streams.wire.scanner.kernels.lines import REQUEST_END

if TYPE_CHECKING:
    from collections.abc import Sequence

GOOD: dict[str, Any] = {
    "id": "1",
    "campaign": "c",
    "segment": "s",
    "judge": "j",
    "systems": ["a", "b"],
    "ranks": [1, 2],
    "at": "2024-02-29T07:08:09.25Z",
}


def block_of(log: Sequence[Judgment]) -> bytes:
    return b"".join(encode(each) + b"\n" for each in log)


def scanned(data: bytes) -> JudgmentColumns | None:
    return Scanner().scan(data)


def told(block: JudgmentColumns) -> list[dict[str, Any]]:
    """Read the columns again, without the help of any decoder."""
    return [
        {
            "id": identity,
            "campaign": block.names[campaign],
            "segment": block.names[segment],
            "judge": block.names[judge],
            "systems": tuple(block.names[number] for number in block.systems[first:last]),
            "ranks": tuple(block.ranks[first:last].tolist()),
            "microseconds": at,
            "duration_ms": duration,
            "asked": bool(request),
        }
        for identity, campaign, segment, judge, at, duration, request, first, last in zip(
            block.ids(),
            block.campaigns.tolist(),
            block.segments.tolist(),
            block.judges.tolist(),
            block.times.tolist(),
            block.durations.tolist(),
            (block.rows[REQUEST_END] > 0).tolist(),
            block.starts[:-1],
            block.starts[1:],
            strict=True,
        )
    ]


def meant(each: Judgment) -> dict[str, Any]:
    since = each.at - EPOCH
    return {
        "id": each.id,
        "campaign": each.campaign,
        "segment": each.segment,
        "judge": each.judge,
        "systems": each.systems,
        "ranks": each.ranks,
        "microseconds": (since.days * 86400 + since.seconds) * 10**6 + since.microseconds,
        "duration_ms": -1 if each.duration_ms is None else each.duration_ms,
        "asked": each.request is not None,
    }
