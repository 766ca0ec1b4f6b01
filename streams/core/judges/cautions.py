"""What a reader of a leaderboard should know about its judges, as cautions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.ranking.cautions import caution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.judges.alarm import FavouredSystem
    from streams.core.judges.report import JudgeReport
    from streams.wire.leaderboard import Caution

LARGE_SHARE = 0.2  # of the judgments, from one judge of many
TIMES_EQUAL = 3.0  # the same, as a multiple of an equal share


def judge_cautions(report: JudgeReport) -> tuple[Caution, ...]:
    """Return the cautions about the judges of a campaign, or of a log."""
    found = []
    if report.largest is not None:
        found += one_judge(*report.largest, judges=report.judges)
    if report.position_bias is not None:
        found += report.position_bias.cautions()
    if report.alarms:
        found.append(favoured_caution(report.alarms))
    by_votes = [judge for judge in report.flagged if judge.by_votes]
    if by_votes:
        worst = max(by_votes, key=lambda judge: judge.reasons[0].strength)
        votes = sum(judge.judgments for judge in by_votes)
        who = "1 judge is flagged" if len(by_votes) == 1 else f"{len(by_votes)} judges are flagged"
        example = "They" if len(by_votes) == 1 else f"For example, {worst.judge}"
        message = f"{who}, with {votes / report.judgments:.1%} of the judgments. {example} {worst.message}."
        found.append(caution("flagged_judges", message))
    return tuple(found)


def favoured_caution(alarms: Sequence[FavouredSystem]) -> Caution:
    """Return the caution that more judges favour a system than chance allows."""
    more = f" The same holds for {len(alarms) - 1} other systems." if len(alarms) > 1 else ""
    return caution("favoured_system", f"{alarms[0].message}.{more}")


def one_judge(judge: str, share: float, *, judges: int) -> list[Caution]:
    """Return the caution that one judge has a large share of the judgments, if so."""
    if judges < 2 or share < max(LARGE_SHARE, min(TIMES_EQUAL / judges, 0.9)):
        return []
    return [caution("one_judge", f"One judge, {judge}, made {share:.0%} of the judgments.")]
