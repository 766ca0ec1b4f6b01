"""A simulated crowd: judges who answer match requests as published win rates, skills or a real log have it."""

from streams.crowd.agreement import kendall_tau, overlaps
from streams.crowd.crowd import Crowd
from streams.crowd.judges import Judge, recruit
from streams.crowd.panel import Panel
from streams.crowd.play import Play, Step
from streams.crowd.simulation import Simulation, segments
from streams.crowd.truths import Oracle, Skills, Truth
from streams.crowd.winrates import WMT13_FR_EN, Competition, Official

__all__ = [
    "WMT13_FR_EN",
    "Competition",
    "Crowd",
    "Judge",
    "Official",
    "Oracle",
    "Panel",
    "Play",
    "Simulation",
    "Skills",
    "Step",
    "Truth",
    "kendall_tau",
    "overlaps",
    "recruit",
    "segments",
]
