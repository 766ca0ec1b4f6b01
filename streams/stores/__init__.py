"""Where the state is kept."""

from streams.stores.base import Lease, Store

__all__ = ["Lease", "Store"]
