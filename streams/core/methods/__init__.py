"""Methods that rank a whole log. The registry imports all of them, and a ranking by another model needs none."""

from streams.core.methods.base import Fitted, Method
from streams.core.methods.counted import CountMethod

__all__ = ["CountMethod", "Fitted", "Method"]
