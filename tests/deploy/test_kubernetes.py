"""The Kubernetes manifests run commands that exist, with settings that exist, as a user without rights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click import Context

from streams.settings import PREFIX, SECRETS, load

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
ACCOUNT = 10001  # of the image; tests/deploy/test_dockerfile.py knows it as well


def manifests() -> list[dict[str, Any]]:
    files = sorted(path for path in FOLDER.glob("*.yaml") if path.name != "kustomization.yaml")
    return [manifest for file in files for manifest in yaml.safe_load_all(file.read_text())]


def of(kind: str) -> dict[str, dict[str, Any]]:
    return {found["metadata"]["name"]: found for found in manifests() if found["kind"] == kind}


def pods() -> dict[str, dict[str, Any]]:
    return {name: found["spec"]["template"] for kind in ("Job", "Deployment") for name, found in of(kind).items()}


PODS = pods()
CONFIG: dict[str, str] = of("ConfigMap")["judgestream"]["data"]
SERVICES = ("judgestream-monitor", "judgestream-worker")


def container(pod: str) -> dict[str, Any]:
    (only,) = PODS[pod]["spec"]["containers"]
    found: dict[str, Any] = only
    return found


def environment(pod: str) -> dict[str, str]:
    """What a container is given, secrets by the names of their keys."""
    secret = {each["name"]: each["valueFrom"]["secretKeyRef"]["key"] for each in container(pod).get("env", ())}
    assert container(pod)["envFrom"] == [{"configMapRef": {"name": "judgestream"}}]
    return CONFIG | secret


def test_kustomize_knows_every_manifest() -> None:
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    assert {*listed["resources"], "kustomization.yaml"} == {path.name for path in FOLDER.glob("*.yaml")}
    assert {image["name"] for image in listed["images"]} == {container(pod)["image"] for pod in PODS}
    assert PODS.keys() == {"judgestream-topics", *SERVICES}


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_runs_a_command_that_exists(pod: str) -> None:
    from streams.cli.main import cli  # here, because it brings the whole program with it

    context = Context(cli)
    verb, *options = container(pod)["args"]
    assert pod == f"judgestream-{verb}"
    assert verb in cli.list_commands(context)
    command = cli.get_command(context, verb)
    assert command is not None
    assert set(options) <= {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_is_given_settings_that_exist_and_that_are_sound(pod: str) -> None:
    sound = environment(pod) | {f"{PREFIX}REDIS": "redis://:password@redis:6379/0"}
    assert load(environment=sound).kafka == CONFIG[f"{PREFIX}KAFKA"]


def test_secrets_come_from_the_secret_and_only_to_whom_they_concern() -> None:
    secret = {PREFIX + name.upper() for name in SECRETS} | {f"{PREFIX}REDIS"}
    assert secret.isdisjoint(CONFIG)
    assert environment("judgestream-topics").keys() == CONFIG.keys()
    assert environment("judgestream-worker").keys() - CONFIG.keys() == {f"{PREFIX}REDIS", f"{PREFIX}JUDGE_KEY"}
    assert environment("judgestream-monitor").keys() - CONFIG.keys() <= secret


@pytest.mark.parametrize("pod", SERVICES)
def test_probes_and_prometheus_ask_where_the_service_answers(pod: str) -> None:
    setting = "HEALTH_PORT" if pod.endswith("worker") else "MONITOR_PORT"
    (port,) = container(pod)["ports"]
    assert str(port["containerPort"]) == environment(pod)[PREFIX + setting]
    paths = {}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = container(pod)[probe]["httpGet"]
        assert asked["port"] == port["name"]
        paths[probe] = asked["path"]
    ready = "/readyz" if pod.endswith("worker") else "/healthz"  # the page must stay when a worker is dead
    assert paths == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": ready}
    assert PODS[pod]["metadata"]["annotations"] == {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": str(port["containerPort"]),
        "prometheus.io/path": "/metrics",
    }


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_has_no_rights_and_no_variables_that_look_like_settings(pod: str) -> None:
    spec = PODS[pod]["spec"]
    assert spec["enableServiceLinks"] is False
    assert spec["automountServiceAccountToken"] is False
    context = spec["securityContext"]
    assert (context["runAsNonRoot"], context["runAsUser"], context["runAsGroup"]) == (True, ACCOUNT, ACCOUNT)
    assert container(pod)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("pod", SERVICES)
def test_a_service_may_write_its_compiled_kernels(pod: str) -> None:
    mounts = container(pod)["volumeMounts"]
    assert {mount["mountPath"] for mount in mounts} == {"/var/cache/judgestream", "/tmp"}
    assert {mount["name"] for mount in mounts} == {volume["name"] for volume in PODS[pod]["spec"]["volumes"]}


def test_selectors_find_their_pods() -> None:
    for kind in ("Deployment", "Service", "PodDisruptionBudget"):
        for name, found in of(kind).items():
            selector = found["spec"]["selector"]
            labels = PODS[name]["metadata"]["labels"]
            assert labels == selector.get("matchLabels", selector)


def test_a_worker_has_time_to_end_its_batch() -> None:
    assert PODS["judgestream-worker"]["spec"]["terminationGracePeriodSeconds"] >= 15  # as docker-compose.yml gives it


def test_the_docs_create_the_secret_that_the_pods_ask_for() -> None:
    asked_for = [each["valueFrom"]["secretKeyRef"] for pod in SERVICES for each in container(pod)["env"]]
    docs = (FOLDER.parent / "README.md").read_text().replace("\\\n", "")
    (command,) = [line for line in docs.splitlines() if line.startswith("kubectl create")]
    assert {reference["name"] for reference in asked_for} == {command.split()[4]}
    assert {reference["key"] for reference in asked_for} == set(re.findall(r"--from-literal=([\w-]+)=", command))
