"""What a newcomer needs to know to choose a model. Each model that can rank a log has a card."""

from __future__ import annotations

from typing import NamedTuple


class ModelCard(NamedTuple):
    """One line of the list of models: what it assumes, its cost, when to choose it, and where it comes from."""

    assumes: str
    cost: str
    choose: str
    reference: str
