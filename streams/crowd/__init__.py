"""A simulated crowd: judges who answer match requests, by published win rates, by skills or by a real log."""

from streams.crowd.accuracy import order_tau, overlaps
from streams.crowd.competition import WMT13_FR_EN, Competition, OfficialResult
from streams.crowd.crowd import Crowd
from streams.crowd.judges import Judge, recruit
from streams.crowd.panel import Panel
from streams.crowd.simulated_campaign import SimulatedCampaign, SimulationStep
from streams.crowd.simulation import Simulation, segment_names
from streams.crowd.truths import Oracle, Skills, Truth

__all__ = [
    "WMT13_FR_EN",
    "Competition",
    "Crowd",
    "Judge",
    "OfficialResult",
    "Oracle",
    "Panel",
    "SimulatedCampaign",
    "Simulation",
    "SimulationStep",
    "Skills",
    "Truth",
    "order_tau",
    "overlaps",
    "recruit",
    "segment_names",
]
