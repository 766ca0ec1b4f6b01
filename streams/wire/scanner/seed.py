"""The seed of all hashes of names and ids. It is random, so that nobody can send names that collide."""

from __future__ import annotations

import secrets

import numpy as np

_NUMBERS = 256  # two for each eight bytes of a text: enough for the longest name, of 200 characters with 4 bytes each

# Each process draws its own. No result depends on it: a hash only chooses the slot in a table.
SEED = np.frombuffer(secrets.token_bytes(8 * _NUMBERS), np.int64) & np.int64(2**63 - 1)
