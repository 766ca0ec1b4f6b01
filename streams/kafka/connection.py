"""How every client reaches Kafka: addresses, TLS and SASL from the settings, and the error when Kafka is away."""

from __future__ import annotations

import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
)

from streams.errors import BrokerUnavailable, SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.settings import Settings

REFUSED = (ClusterAuthorizationFailedError, GroupAuthorizationFailedError, TopicAuthorizationFailedError)


def connection_options(settings: Settings) -> dict[str, Any]:
    """Return the options with which an aiokafka client connects. Raise SettingError if settings contradict each other.

    >>> from streams.settings import Settings
    >>> connection_options(Settings(kafka="broker:9092"))["security_protocol"]
    'PLAINTEXT'
    """
    security = settings.kafka_security
    encrypted, with_login = security.endswith("SSL"), security.startswith("SASL")
    for name in ("kafka_username", "kafka_password"):
        if with_login and not getattr(settings, name):
            raise SettingError(f"kafka_security is {security}, but {name} is not set; set JUDGESTREAM_{name.upper()}")
        if getattr(settings, name) and not with_login:
            raise SettingError(
                f"{name} is set, but kafka_security is {security}, which uses none; set JUDGESTREAM_KAFKA_SECURITY "
                "to SASL_SSL, or to SASL_PLAINTEXT in a network that you trust"
            )
    for name in ("kafka_ca_file", "kafka_cert_file", "kafka_key_file"):
        if getattr(settings, name) and not encrypted:
            raise SettingError(f"{name} is set, but kafka_security is {security}; for TLS set it to SSL or SASL_SSL")
    options: dict[str, Any] = {"bootstrap_servers": settings.kafka, "security_protocol": security}
    if encrypted:
        options["ssl_context"] = _ssl_context(settings)
    if with_login:
        options["sasl_mechanism"] = settings.kafka_mechanism
        options["sasl_plain_username"] = settings.kafka_username
        options["sasl_plain_password"] = settings.kafka_password
    return options


def rdkafka_options(settings: Settings) -> dict[str, Any]:
    """Return the options with which a librdkafka client connects, in its own names.

    >>> from streams.settings import Settings
    >>> rdkafka_options(Settings(kafka="broker:9092"))
    {'bootstrap.servers': 'broker:9092', 'security.protocol': 'PLAINTEXT'}
    """
    given = connection_options(settings)
    options = {"bootstrap.servers": settings.kafka, "security.protocol": settings.kafka_security}
    if "ssl_context" in given:
        # librdkafka does not look at SSL_CERT_FILE if it finds the authorities of the system.
        trusted = ssl.get_default_verify_paths()
        options["ssl.ca.location"] = settings.kafka_ca_file or trusted.cafile or trusted.capath or "probe"
        if settings.kafka_cert_file:
            options["ssl.certificate.location"] = settings.kafka_cert_file
            options["ssl.key.location"] = settings.kafka_key_file or settings.kafka_cert_file
    if "sasl_mechanism" in given:
        options["sasl.mechanism"] = settings.kafka_mechanism
        options["sasl.username"] = settings.kafka_username
        options["sasl.password"] = settings.kafka_password
    return options


def consumer_group(settings: Settings) -> str:
    """Return the name of the consumer group in which the workers share the log."""
    return f"{settings.namespace}.judgestream-raters" if settings.namespace else "judgestream-raters"


@contextmanager
def answering(settings: Settings) -> Iterator[None]:
    """Raise BrokerUnavailable in place of an error of aiokafka."""
    try:
        yield
    except REFUSED as error:
        raise not_allowed(settings, error) from None
    except (KafkaError, TimeoutError) as error:
        raise unavailable(settings, str(error) or "timed out") from None


def not_allowed(settings: Settings, error: KafkaError | str) -> BrokerUnavailable:
    """Return the error for a user who may not do something. The broker names the topic or the group."""
    user = settings.kafka_username or "ANONYMOUS"
    return BrokerUnavailable(
        f"Kafka at {settings.kafka} refuses: the user {user} may not do this ({error}). "
        "deploy/kafka_acls.py has the rights of each role"
    )


def unavailable(settings: Settings, reason: str) -> BrokerUnavailable:
    """Return the error for a broker that does not answer, with the reason.

    >>> from streams.settings import Settings
    >>> unavailable(Settings(kafka="broker:9092"), "timed out")
    BrokerUnavailable('Kafka at broker:9092 does not answer: timed out')
    """
    return BrokerUnavailable(f"Kafka at {settings.kafka} does not answer{describe_security(settings)}: {reason}")


def describe_security(settings: Settings) -> str:
    """Return the security protocol and the user for an error message, or nothing if the connection is plain.

    >>> from streams.settings import Settings
    >>> describe_security(Settings(kafka_security="SASL_SSL", kafka_username="app"))
    ' (security SASL_SSL, user app)'
    """
    if settings.kafka_security == "PLAINTEXT":
        return ""
    user = f", user {settings.kafka_username}" if settings.kafka_username else ""
    return f" (security {settings.kafka_security}{user})"


def _ssl_context(settings: Settings) -> ssl.SSLContext:
    """Return a context that trusts `kafka_ca_file`, or else the authorities that this machine trusts."""
    try:
        context = ssl.create_default_context(cafile=settings.kafka_ca_file or None)
    except OSError as error:
        raise SettingError(f"kafka_ca_file is {settings.kafka_ca_file!r}: {_reason(error)}") from None
    if settings.kafka_cert_file or settings.kafka_key_file:
        try:
            context.load_cert_chain(settings.kafka_cert_file, settings.kafka_key_file or None)
        except OSError as error:
            files = f"kafka_cert_file is {settings.kafka_cert_file!r}, kafka_key_file is {settings.kafka_key_file!r}"
            raise SettingError(f"{files}: {_reason(error)}") from None
    return context


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return "it is not a PEM file, or the certificate and the key do not belong together"
    return error.strerror or str(error)
