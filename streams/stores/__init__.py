"""Where the state is stored."""

from streams.stores.base import Lease, Store

__all__ = ["Lease", "Store"]
