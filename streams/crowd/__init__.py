"""A simulated crowd: judges who answer match requests as the published win rates of a competition have it."""

from streams.crowd.agreement import kendall_tau, overlaps
from streams.crowd.crowd import Crowd
from streams.crowd.judges import Judge, recruit
from streams.crowd.simulation import Simulation, Step
from streams.crowd.winrates import WMT13_FR_EN, Competition, Official

__all__ = [
    "WMT13_FR_EN",
    "Competition",
    "Crowd",
    "Judge",
    "Official",
    "Simulation",
    "Step",
    "kendall_tau",
    "overlaps",
    "recruit",
]
