"""How every client reaches Kafka: the addresses, and the TLS and SASL that the settings ask for."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

from streams.errors import SettingError

if TYPE_CHECKING:
    from streams.settings import Settings


def connection(settings: Settings) -> dict[str, Any]:
    """Give the options by which an aiokafka client connects; SettingError where the settings contradict each other.

    >>> from streams.settings import Settings
    >>> connection(Settings(kafka="broker:9092"))["security_protocol"]
    'PLAINTEXT'
    """
    security = settings.kafka_security
    encrypted, named = security.endswith("SSL"), security.startswith("SASL")
    for name in ("kafka_username", "kafka_password"):
        if named and not getattr(settings, name):
            raise SettingError(f"kafka_security is {security}, and {name} is not set; set JUDGESTREAM_{name.upper()}")
        if getattr(settings, name) and not named:
            raise SettingError(
                f"{name} is set, and kafka_security is {security}, which asks for none; set JUDGESTREAM_KAFKA_SECURITY "
                "to SASL_SSL, or to SASL_PLAINTEXT in a network that you trust"
            )
    for name in ("kafka_ca_file", "kafka_cert_file", "kafka_key_file"):
        if getattr(settings, name) and not encrypted:
            raise SettingError(f"{name} is set, and kafka_security is {security}: for TLS set it to SSL or SASL_SSL")
    options: dict[str, Any] = {"bootstrap_servers": settings.kafka, "security_protocol": security}
    if encrypted:
        options["ssl_context"] = _context(settings)
    if named:
        options["sasl_mechanism"] = settings.kafka_mechanism
        options["sasl_plain_username"] = settings.kafka_username
        options["sasl_plain_password"] = settings.kafka_password
    return options


def describe_security(settings: Settings) -> str:
    """Say for an error how the broker was spoken to, where that is not the default.

    >>> from streams.settings import Settings
    >>> describe_security(Settings(kafka_security="SASL_SSL", kafka_username="app"))
    ', spoken to with kafka_security = SASL_SSL by kafka_username = app,'
    """
    if settings.kafka_security == "PLAINTEXT":
        return ""
    user = f" by kafka_username = {settings.kafka_username}" if settings.kafka_username else ""
    return f", spoken to with kafka_security = {settings.kafka_security}{user},"


def _context(settings: Settings) -> ssl.SSLContext:
    """Trust the authority that is named, or else those that this machine trusts; show a certificate if there is one."""
    try:
        context = ssl.create_default_context(cafile=settings.kafka_ca_file or None)
    except OSError as error:
        raise SettingError(f"kafka_ca_file is {settings.kafka_ca_file!r}: {_why(error)}") from None
    if settings.kafka_cert_file or settings.kafka_key_file:
        try:
            context.load_cert_chain(settings.kafka_cert_file, settings.kafka_key_file or None)
        except OSError as error:
            files = f"kafka_cert_file is {settings.kafka_cert_file!r}, kafka_key_file is {settings.kafka_key_file!r}"
            raise SettingError(f"{files}: {_why(error)}") from None
    return context


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return "not PEM, or the two do not belong together"
    return error.strerror or str(error)
