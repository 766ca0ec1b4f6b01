"""The errors of the local servers.

::

    ServersError
    ├── ToolMissingError    a program that a server needs is not installed
    ├── JarsError           Kafka's jars differ from the pinned ones, or cannot be fetched
    ├── PortTakenError      another process listens on the port of a server
    ├── StateError          the file with the servers' ports and processes is damaged
    └── NotReadyError       a server died, or did not answer in time
"""


class ServersError(Exception):
    """Root of these errors. The message says what is wrong, where, and what to do."""


class ToolMissingError(ServersError):
    """A program that a server needs is not installed."""


class JarsError(ServersError):
    """Kafka's jars differ from the pinned ones, or cannot be fetched."""


class PortTakenError(ServersError):
    """Another process listens on the port of a server."""


class StateError(ServersError):
    """The file with the servers' ports and processes is damaged."""


class NotReadyError(ServersError):
    """A server died, or did not answer in time."""
