"""Judges who manipulate or do not care: tests of each judge against the votes of the others."""

from streams.core.judges.alarm import FavouredSystem as FavouredSystem
from streams.core.judges.cautions import judge_cautions as judge_cautions
from streams.core.judges.position import PositionBias as PositionBias
from streams.core.judges.report import FlaggedJudge as FlaggedJudge
from streams.core.judges.report import JudgeReport as JudgeReport
from streams.core.judges.report import Reason as Reason
from streams.core.judges.report import examine_judges as examine_judges
from streams.core.judges.votes import VoteCounter as VoteCounter
from streams.core.judges.votes import Votes as Votes
