"""Every client of Kafka is told the same, and settings that contradict each other are refused with a way out."""

from __future__ import annotations

import re
import ssl
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from aiokafka.errors import KafkaConnectionError
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth

import streams
from streams import worker
from streams.errors import BrokerUnavailable, SettingError
from streams.kafka.connection import answering, connection_options, rdkafka_options
from streams.metrics import WorkerMetrics
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.worker.app import create_app
from streams.worker.status import WorkerStatus

AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBmjCCAT+gAwIBAgIUdn3aJrj2faY0fqf+kO4hUwYkoMIwCgYIKoZIzj0EAwIw
ITEfMB0GA1UEAwwWQW4gYXV0aG9yaXR5IGZvciB0ZXN0czAgFw0yNjExMTYxNjQx
NDNaGA8yMTI2MTAyMzE2NDE0M1owITEfMB0GA1UEAwwWQW4gYXV0aG9yaXR5IGZv
ciB0ZXN0czBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIlAap49LxXwpWIV1gmD
EdvMSZkwKV3udVMcgxFhhtn3BLHAd5m608XO/N8e5UVuLbo4YXEcOoL+O0pVclbb
RLujUzBRMB0GA1UdDgQWBBRZ31lL1qbVHu9X50IN6BybTDa71jAfBgNVHSMEGDAW
gBRZ31lL1qbVHu9X50IN6BybTDa71jAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49
BAMCA0kAMEYCIQCl/1k8fIx7sCKRD247uR0VXvHKqvGg/6U+vOoqEcj4gQIhANOZ
779Vg0Y4B0wHFHJw1JEMxzTTaRr1qWbdh8dz89zk
-----END CERTIFICATE-----
"""
LOGIN: dict[str, Any] = {"kafka_username": "app", "kafka_password": "password"}


def test_plain_is_the_default() -> None:
    assert connection_options(Settings(kafka="a:1,b:2")) == {
        "bootstrap_servers": "a:1,b:2",
        "security_protocol": "PLAINTEXT",
    }


def test_sasl_names_the_user() -> None:
    settings = Settings(kafka="a:1", kafka_security="SASL_PLAINTEXT", kafka_mechanism="SCRAM-SHA-512", **LOGIN)
    assert connection_options(settings) == {
        "bootstrap_servers": "a:1",
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "app",
        "sasl_plain_password": "password",
    }


@pytest.mark.parametrize("more", [{"kafka_security": "SSL"}, {"kafka_security": "SASL_SSL", **LOGIN}])
def test_tls_checks_the_broker_against_the_authority_that_is_named(more: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "authority.pem"
    file.write_text(AUTHORITY)
    context = connection_options(Settings(kafka_ca_file=str(file), **more))["ssl_context"]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    (trusted,) = context.get_ca_certs()
    assert trusted["subject"] == ((("commonName", "An authority for tests"),),)


def test_librdkafka_trusts_the_authorities_that_openssl_is_told_to_trust(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authorities = tmp_path / "authorities.pem"
    authorities.touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(authorities))
    assert rdkafka_options(Settings(kafka_security="SSL"))["ssl.ca.location"] == str(authorities)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(kafka_security="SSL"),
        Settings(kafka_security="SASL_PLAINTEXT", kafka_mechanism="SCRAM-SHA-256", **LOGIN),
        Settings(kafka_security="SASL_SSL", **LOGIN),
    ],
    ids=lambda settings: settings.kafka_security,
)
def test_faust_is_told_what_every_other_client_is_told(settings: Settings) -> None:
    app = create_app(settings, MemoryStore(), WorkerStatus(), WorkerMetrics())
    told = dict(credentials_to_aiokafka_auth(app.conf.broker_credentials))
    others = connection_options(settings)
    del others["bootstrap_servers"]
    assert isinstance(told.pop("ssl_context", None), ssl.SSLContext) == ("ssl_context" in others)
    others.pop("ssl_context", None)
    assert told == others


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kafka_security": "SASL_SSL"}, "kafka_username is not set; set JUDGESTREAM_KAFKA_USERNAME"),
        ({"kafka_security": "SASL_SSL", "kafka_username": "a"}, "kafka_password is not set"),
        ({"kafka_username": "a"}, "kafka_username is set, but kafka_security is PLAINTEXT"),
        ({"kafka_security": "SSL", "kafka_password": "secret"}, "kafka_password is set, but kafka_security is SSL"),
        ({"kafka_ca_file": "x"}, "kafka_ca_file is set, but kafka_security is PLAINTEXT"),
        ({"kafka_security": "SSL", "kafka_ca_file": "/none"}, "kafka_ca_file is '/none': No such file or directory"),
        ({"kafka_security": "SSL", "kafka_ca_file": str(worker.__file__)}, "not a PEM file"),
        ({"kafka_security": "SSL", "kafka_cert_file": "/none"}, "kafka_cert_file is '/none'"),
        ({"kafka_security": "SSL", "kafka_key_file": "/none"}, "kafka_key_file is '/none'"),
    ],
)
def test_what_does_not_go_together_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=re.escape(words)) as refused:
        connection_options(Settings(**settings))
    assert "secret" not in str(refused.value)


def test_each_kind_of_client_is_built_in_one_place_and_connects_in_one_way() -> None:
    """One that names its brokers itself would not know of TLS."""
    (folder,) = streams.__path__
    builders = defaultdict(list)
    for file in Path(folder).rglob("*.py"):
        text = file.read_text()
        assert ("bootstrap_servers" in text) == (file.name == "connection.py"), file.name
        for client, options in re.findall(r"(?:= |return )(AIOKafka\w+)\(\s*(\*\*connection_options\(|)", text):
            assert options, file.name
            builders[client].append(f"{file.parent.name}/{file.name}")
    assert builders == {
        "AIOKafkaAdminClient": ["kafka/admin.py"],
        "AIOKafkaConsumer": ["kafka/consumers.py"],
        "AIOKafkaProducer": ["kafka/producers.py"],
    }


def test_an_error_of_aiokafka_names_the_broker_and_the_login() -> None:
    settings = Settings(kafka="a:1", kafka_security="SASL_SSL", **LOGIN)
    message = "Kafka at a:1 does not answer (security SASL_SSL, user app): KafkaConnectionError: no route"
    with pytest.raises(BrokerUnavailable, match=re.escape(message)), answering(settings):
        raise KafkaConnectionError("no route")
    with (
        pytest.raises(BrokerUnavailable, match="Kafka at a:1 does not answer: timed out"),
        answering(Settings(kafka="a:1")),
    ):
        raise TimeoutError
    with pytest.raises(ZeroDivisionError), answering(settings):
        raise ZeroDivisionError
