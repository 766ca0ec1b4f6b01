"""What can go wrong with the local servers.

::

    ServersError
    ├── ToolMissingError    a program that a server needs is not installed
    ├── JarsError           Kafka's jars are not the ones that are pinned, or can't be had
    ├── PortTakenError      another process listens where a server has to come back
    ├── StateError          the record of the servers is damaged
    └── NotReadyError       a server died, or did not answer in time
"""


class ServersError(Exception):
    """The root: its message says what is wrong, where, and what to do."""


class ToolMissingError(ServersError):
    """A program that a server needs is not installed."""


class JarsError(ServersError):
    """Kafka's jars are not the ones that are pinned, or can't be had."""


class PortTakenError(ServersError):
    """Another process listens where a server has to come back."""


class StateError(ServersError):
    """The record of the servers is damaged."""


class NotReadyError(ServersError):
    """A server died, or did not answer in time."""
