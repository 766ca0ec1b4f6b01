from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from click import Context
from msgspec import Struct

from deploy.jars import KAFKA_VERSION
from deploy.kafka_server import MAX_MESSAGE_BYTES
from streams.settings import CONFIG_VARIABLE, PREFIX, Settings
from streams.wire.topics import MAX_LOG_BYTES

ROOT = Path(__file__).parents[2]
OURS = ("topics", "worker", "monitor")
THEIRS = ("kafka", "redis")
WATCHERS = ("prometheus", "grafana")


class Healthcheck(Struct):
    test: list[str]
    interval: str
    timeout: str
    retries: int


class Service(Struct):
    image: str
    restart: str
    environment: dict[str, str | None] = {}
    profiles: list[str] = []
    build: dict[str, str] | None = None
    command: list[str] = []
    ports: list[str] = []
    volumes: list[str] = []
    depends_on: dict[str, dict[str, str]] = {}
    healthcheck: Healthcheck | None = None
    container_name: str | None = None
    stop_grace_period: str | None = None


class Compose(Struct):
    services: dict[str, Service]
    volumes: dict[str, None]


@pytest.fixture(scope="module")
def compose() -> Compose:
    return msgspec.yaml.decode((ROOT / "docker-compose.yml").read_bytes(), type=Compose)


def test_there_are_two_servers_a_one_shot_the_worker_the_monitor_and_those_who_watch(compose: Compose) -> None:
    assert compose.services.keys() == {*OURS, *THEIRS, *WATCHERS}
    assert [compose.services[name].restart for name in OURS] == ["no", "unless-stopped", "unless-stopped"]


def test_only_those_who_watch_have_to_be_asked_for(compose: Compose) -> None:
    asked_for = {name: service.profiles for name, service in compose.services.items() if service.profiles}
    assert asked_for == {name: ["metrics"] for name in WATCHERS}


@pytest.mark.parametrize("name", ["worker", "monitor"])
def test_a_service_waits_for_healthy_servers_and_for_the_topics(compose: Compose, name: str) -> None:
    assert compose.services[name].depends_on == {
        "kafka": {"condition": "service_healthy"},
        "redis": {"condition": "service_healthy"},
        "topics": {"condition": "service_completed_successfully"},
    }
    assert compose.services["topics"].depends_on == {"kafka": {"condition": "service_healthy"}}


def test_whatever_is_waited_for_says_when_it_is_healthy(compose: Compose) -> None:
    waited_for = {
        name
        for service in compose.services.values()
        for name, wait in service.depends_on.items()
        if wait["condition"] == "service_healthy"
    }
    assert waited_for == set(THEIRS)
    for name in waited_for:
        assert compose.services[name].healthcheck is not None


def test_the_servers_keep_their_data_in_declared_volumes(compose: Compose) -> None:
    mounted = {volume.partition(":")[0] for service in compose.services.values() for volume in service.volumes}
    assert {name for name in mounted if not name.startswith("./")} == compose.volumes.keys()
    assert compose.services["kafka"].volumes == [f"kafka-data:{kafka(compose)['LOG_DIRS']}"]
    assert compose.services["redis"].volumes == ["redis-data:/data"]


def test_the_worker_can_be_scaled(compose: Compose) -> None:
    worker = compose.services["worker"]
    assert (worker.container_name, worker.ports, worker.volumes) == (None, [], [])
    assert worker.stop_grace_period == "15s"


def test_nothing_listens_beyond_this_machine(compose: Compose) -> None:
    published = [port for service in compose.services.values() for port in service.ports]
    assert sorted(published) == [f"127.0.0.1:{port}:{port}" for port in (3000, 6379, 8080, 9090, 9092)]


def test_prometheus_and_grafana_are_given_what_the_repo_has(compose: Compose) -> None:
    given = [volume.split(":") for name in WATCHERS for volume in compose.services[name].volumes if volume[0] == "."]
    assert {(ROOT / folder).is_dir() for folder, _, _ in given} == {True}
    assert {mode for _, _, mode in given} == {"ro"}
    places = {folder.rpartition("/")[2]: inside for folder, inside, _ in given}
    home = compose.services["grafana"].environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] or ""
    assert (ROOT / "deploy" / "grafana" / "dashboards" / home.removeprefix(f"{places['dashboards']}/")).is_file()
    provided = (ROOT / "deploy" / "grafana" / "provisioning" / "dashboards" / "judgestream.yml").read_text()
    assert f"path: {places['dashboards']}\n" in provided


def test_prometheus_scrapes_the_ports_that_our_services_answer_on(compose: Compose) -> None:
    config = msgspec.yaml.decode((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_bytes())
    for job in config["scrape_configs"]:
        (found,) = job["dns_sd_configs"]
        (name,) = found["names"]
        setting = {"worker": "HEALTH", "monitor": "MONITOR"}[name]
        assert job["job_name"] == f"judgestream-{name}"
        environment = compose.services[name].environment
        assert environment[f"{PREFIX}{setting}_PORT"] == str(found["port"])
        assert environment[f"{PREFIX}{setting}_HOST"] == "0.0.0.0"


def test_no_secret_has_a_default(compose: Compose) -> None:
    required = re.compile(r"\$\{JUDGESTREAM_\w+:\?[^}]*openssl rand -hex 32}")
    environment = compose.services["worker"].environment
    assert required.fullmatch(environment["JUDGESTREAM_JUDGE_KEY"] or "")
    assert required.fullmatch(compose.services["redis"].environment["REDISCLI_AUTH"] or "")
    command = compose.services["redis"].command
    assert required.fullmatch(command[command.index("--requirepass") + 1])
    password = re.fullmatch(r"redis://:(.*)@redis:6379/0", environment["JUDGESTREAM_REDIS"] or "")
    assert password is not None
    assert required.fullmatch(password[1])


def test_redis_keeps_every_write_and_evicts_nothing(compose: Compose) -> None:
    command = compose.services["redis"].command
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--maxmemory-policy"] == "noeviction"


def test_kafka_is_reached_from_the_containers_and_from_this_machine(compose: Compose) -> None:
    advertised = kafka(compose)["ADVERTISED_LISTENERS"].split(",")
    assert f"INTERNAL://{compose.services['worker'].environment['JUDGESTREAM_KAFKA']}" in advertised
    assert "HOST://127.0.0.1:9092" in advertised
    ports = [listener.rpartition(":")[2] for listener in kafka(compose)["LISTENERS"].split(",")]
    assert {address.rpartition(":")[2] for address in advertised} < set(ports)


def test_kafka_is_the_one_that_runs_without_docker(compose: Compose) -> None:
    assert compose.services["kafka"].image == f"apache/kafka:{KAFKA_VERSION}"
    assert kafka(compose)["MESSAGE_MAX_BYTES"] == str(MAX_MESSAGE_BYTES)
    assert kafka(compose)["AUTO_CREATE_TOPICS_ENABLE"] == "false"


def test_kafka_takes_the_longest_record_of_the_log() -> None:
    assert MAX_MESSAGE_BYTES > MAX_LOG_BYTES


@pytest.mark.parametrize("name", OURS)
def test_our_containers_are_passed_real_settings_and_all_of_them(compose: Compose, name: str) -> None:
    settings = {PREFIX + field.upper() for field in Settings.__struct_fields__}
    assert compose.services[name].environment.keys() - {CONFIG_VARIABLE} == settings


@pytest.mark.parametrize("name", OURS)
def test_our_containers_run_commands_that_exist(compose: Compose, name: str) -> None:
    from streams.cli.main import cli  # here, because it brings the whole program with it

    context = Context(cli)
    verb, *options = compose.services[name].command
    assert verb in cli.list_commands(context)
    command = cli.get_command(context, verb)
    assert command is not None
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert set(options) <= known


@pytest.mark.parametrize("name", OURS)
def test_our_containers_are_built_from_the_repo(compose: Compose, name: str) -> None:
    build = compose.services[name].build
    assert build is not None
    assert (ROOT / build["context"] / build["dockerfile"]).is_file()


def kafka(compose: Compose) -> dict[str, str]:
    environment = compose.services["kafka"].environment
    return {name.removeprefix("KAFKA_"): value or "" for name, value in environment.items()}
