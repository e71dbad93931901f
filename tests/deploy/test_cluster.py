"""The files of a cluster: units that systemd checks, a compose file, an image."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from deskhand.tools.cluster.gate.node_settings import foreign_settings, node_environment
from deskhand.tools.cluster.ray_node.ray_command import RayPlace, ray_command
from deskhand.tools.cluster.ray_token import token_problem
from deskhand.tools.control_plane.settings import PREFIX, Settings, load
from deskhand.tools.secrets.keys import CREDENTIAL, CredentialSource

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "deploy" / "cluster"
UNITS = sorted(CLUSTER.glob("*.service"))
PROGRAM = re.compile(r"/opt/deskhand/bin/(deskhand|ray)\b")
LAUNCHER = ROOT / "deploy" / "systemd" / "deskhand-launcher.service"
MOST_EXPOSURE = 4.0
DOCUMENTED = (ROOT / "docs" / "cluster.md").read_text()
SECRETS = ("DESKHAND_DATABASE", "PGPASS", "AWS_", "API_KEY", "DESKHAND_STORE")
COMPOSE_FILES = (CLUSTER / "compose.yaml", ROOT / "deploy" / "container" / "compose.yaml")
RAY_PORT = 7460
PORT_FLAG = re.compile(r"--(?:[a-z-]+-)?port=\d+")
RAY_RUNS_IN = ("deskhand-ray-head.service", "deskhand-ray-node.service")
RAY_OF_PLANES = ("plane1-ray", "plane2-ray")
MEMBERS = ("plane1", "plane2", "node1", "node2")


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CLUSTER / "compose.yaml").read_text())
    return found


def compose_schema() -> dict[str, Any]:
    """Return the JSON schema of the Compose specification, which check-jsonschema ships."""
    place = "check_jsonschema/builtin_schemas/vendor/compose-spec.json"
    text = Path(str(distribution("check-jsonschema").locate_file(place))).read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def ray_ports() -> set[str]:
    """Return the flags by which `deskhand node` pins the ports of its Ray processes."""
    place = RayPlace("10.0.0.5:6379", "n7", 4, "10.0.0.7", 7443, first_port=RAY_PORT)
    return set(filter(PORT_FLAG.fullmatch, ray_command("ray", place)))


def container_settings(name: str) -> Settings:
    """Return the settings that the program of a service reads in its container."""
    image = (ROOT / "deploy" / "container" / "Dockerfile").read_text()
    given = dict(re.findall(r"\b(DESKHAND_\w+)=(\S+)", image))
    service = compose()["services"][name]
    given |= {key: value for key, value in service["environment"].items() if value is not None}
    given["DESKHAND_STORE"] = "s3://bucket"
    flags = {}
    if name.startswith("node"):
        given = node_environment(given, frozenset())
        pairs = iter(service["command"][1:])
        flags = {flag.removeprefix("--"): value for flag, value in zip(pairs, pairs, strict=True)}
        flags["places"] = int(flags["places"])
    return load(flags, given, "", Path("/data"))


@pytest.mark.soak
def test_systemd_understands_each_line_of_the_units(tmp_path: Path) -> None:
    assert len(UNITS) == 4
    for unit in (*UNITS, LAUNCHER):
        (tmp_path / unit.name).write_text(PROGRAM.sub("/bin/true", unit.read_text()))
    shown = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert not [line for line in shown.stderr.splitlines() if "deskhand" in line], shown.stderr


@pytest.mark.soak
@pytest.mark.parametrize("name", [unit.name for unit in UNITS])
def test_units_are_exposed_little(name: str) -> None:
    shown = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", str(CLUSTER / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", shown.stdout)
    assert found is not None, shown.stdout + shown.stderr
    assert float(found[1]) <= MOST_EXPOSURE, shown.stdout


def test_a_node_gets_no_password_and_no_key() -> None:
    unit = (CLUSTER / "deskhand-node.service").read_text()
    named = [line for line in unit.splitlines() if not line.startswith("#")]
    nodes = [one for name, one in compose()["services"].items() if name.startswith("node")]
    assert len(nodes) == 2
    for text in ("\n".join(named), *(str(one) for one in nodes)):
        assert not [secret for secret in SECRETS if secret in text], text


def test_desktops_outlive_a_restart_of_their_node() -> None:
    lines = (CLUSTER / "deskhand-node.service").read_text().splitlines()
    assert {"KillMode=process", "Delegate=yes", "Type=notify", "Restart=always"} <= {*lines}
    assert any("--keep-desktops" in line for line in lines)
    # Desktops are in the control group of the launcher.
    assert "Requires=deskhand-launcher.service" in lines


@pytest.mark.parametrize("file", COMPOSE_FILES, ids=lambda file: str(file.parent.name))
def test_compose_files_follow_the_schema_of_their_specification(file: Path) -> None:
    schema = compose_schema()
    Draft202012Validator.check_schema(schema)
    content = yaml.safe_load(file.read_text())
    assert [error.message for error in Draft202012Validator(schema).iter_errors(content)] == []
    content["services"]["more"] = {"image": "x", "no_such_key": True}
    assert list(Draft202012Validator(schema).iter_errors(content))


def test_compose_names_services_networks_and_volumes_that_exist() -> None:
    found = compose()
    for name, service in found["services"].items():
        assert set(service.get("depends_on", ())) <= found["services"].keys(), name
        assert set(service.get("networks", ())) <= found["networks"].keys(), name
        # A service has networks of its own or those of another one, not both.
        shared = service.get("network_mode", "").removeprefix("service:")
        assert bool(shared) is not ("networks" in service), name
        assert not shared or shared in found["services"], name
        assert set(service.get("secrets", ())) <= found["secrets"].keys(), name
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source.startswith("./") or source in found["volumes"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        given = str(service.get("environment"))
        assert set(re.findall(r"/run/secrets/([\w-]+)", given)) <= {*service["secrets"]}, name


def test_settings_of_containers_are_accepted() -> None:
    settings = {name: container_settings(name) for name in MEMBERS}
    for name, found in settings.items():
        published = compose()["services"][name].get("ports", [""])[0].rpartition(":")[0]
        assert found.public_url == (f"http://{published}" if published else ""), name
        assert found.certificates == "/certificates", name
        assert found.cluster == "ray:6379", name
        if name.startswith("plane"):
            assert found.internal_listen.partition(":")[0] == name
        else:
            assert found.listen.partition(":")[0] == name
            assert foreign_settings(found.sources) == []


def test_control_planes_share_the_key_of_the_secrets() -> None:
    services = compose()["services"]
    for name in ("plane1", "plane2"):
        assert services[name]["environment"]["CREDENTIALS_DIRECTORY"] == "/run/secrets"
        assert CREDENTIAL in services[name]["secrets"]
    assert compose()["secrets"][CREDENTIAL] == {"file": "./secrets.key"}


def test_the_steps_of_the_compose_file_make_all_files_that_it_names(tmp_path: Path) -> None:
    text = (CLUSTER / "compose.yaml").read_text()
    steps = re.search(r"#   (mkdir .*?)#   sudo chown", text, re.DOTALL)
    assert steps is not None
    script = f"set -eu\n{steps[1].replace('#   ', '')}"
    python = Path(sys.executable).parent
    path = {**os.environ, "PATH": f"{python}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", script], cwd=tmp_path, env=path, check=True, capture_output=True)
    folder = tmp_path / "cluster"
    found = compose()
    named = [secret["file"] for secret in found["secrets"].values()]
    for service in found["services"].values():
        named += [one.partition(":")[0] for one in service.get("volumes", ())]
    places = [folder / one for one in named if one.startswith("./")]
    assert len(places) == len(found["secrets"]) + len(MEMBERS)
    for place in places:
        assert place.stat().st_mode & 0o077 == 0, place
        assert place.is_dir() or place.read_text().strip(), place
    for name in ("ray-token", "ray-user-token"):
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(folder / name)}
        assert token_problem(token) == ""
    assert (folder / "ray-token").read_text() == (folder / "ray-user-token").read_text()
    (folder / "secrets.key").rename(folder / CREDENTIAL)
    assert CredentialSource.loaded(str(folder)).read()
    password = (folder / "database-password").read_text().strip()
    line = (folder / "pgpass").read_text().strip()
    assert line == f"database:5432:deskhand:deskhand:{password}"


def test_each_node_of_ray_has_the_ports_of_the_firewall() -> None:
    ports = ray_ports()
    assert len(ports) == 8
    texts = [(CLUSTER / name).read_text() for name in RAY_RUNS_IN]
    services = compose()["services"]
    texts += ["\n".join(services[name]["command"]) for name in ("ray", *RAY_OF_PLANES)]
    texts += re.findall(r"^ports='(.*?)'$", DOCUMENTED, re.DOTALL | re.MULTILINE)
    assert len(texts) == len(RAY_RUNS_IN) + 4
    for text in texts:
        # The head has a port of its own besides.
        assert set(PORT_FLAG.findall(text)) - {"--port=6379"} == ports, text
    commands = re.findall(r"^ray start (.*?[^\\])$", DOCUMENTED, re.DOTALL | re.MULTILINE)
    assert len(commands) == 2
    assert all("$ports" in command for command in commands)


def test_the_head_of_ray_notices_dead_nodes_at_the_same_time_everywhere() -> None:
    (option,) = (
        one.removeprefix("--system-config=")
        for one in compose()["services"]["ray"]["command"]
        if one.startswith("--system-config=")
    )
    documented = re.findall(r"'(\{\"health.*?\})'", DOCUMENTED, re.DOTALL)
    assert len(documented) == 2
    assert all(json.loads(one) == json.loads(option) for one in documented)


def test_control_plane_and_ray_of_a_host_share_their_temporary_files() -> None:
    """The driver of Ray connects by sockets in /tmp, which is private to each unit else."""
    plane = (CLUSTER / "deskhand-plane.service").read_text().splitlines()
    assert "JoinsNamespaceOf=deskhand-ray-head.service deskhand-ray-node.service" in plane
    for unit in RAY_RUNS_IN:
        lines = (CLUSTER / unit).read_text().splitlines()
        assert {"JoinsNamespaceOf=deskhand-plane.service", "PrivateTmp=yes"} <= {*lines}


def test_ray_beside_a_control_plane_in_containers_has_a_user_of_its_own() -> None:
    services, image = compose()["services"], (CLUSTER / "Dockerfile").read_text()
    planes_user = re.findall(r"^USER (\d+)$", image, re.MULTILINE)[-1]
    for name in RAY_OF_PLANES:
        beside, plane = services[name], name.removesuffix("-ray")
        user, group = beside["user"].split(":")
        assert user != planes_user
        # The driver of Ray connects by sockets that are open for the group.
        assert services[plane]["group_add"] == [group]
        assert "umask 0007" in beside["entrypoint"][-2]
        (sockets,) = beside["volumes"]
        assert sockets in services[plane]["volumes"]
        assert f"-o deskhand-ray -g deskhand-ray -m 1777 {sockets.partition(':')[2]}" in image
        assert f"--uid {user} " in image
        assert beside["network_mode"] == beside["pid"] == f"service:{plane}"
        # It gets nothing of the control plane.
        assert beside["secrets"] == ["ray-user-token"]
        assert not [secret for secret in SECRETS if secret in str(beside)]


def test_the_image_installs_the_packages_of_the_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    image = (CLUSTER / "Dockerfile").read_text()
    installed = re.findall(r'"([a-z].*?)"', image)
    assert installed == project["optional-dependencies"]["cluster"]


def test_files_name_only_settings_that_exist() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.__dataclass_fields__}
    for file in CLUSTER.iterdir():
        named = set(re.findall(r"\bDESKHAND_[A-Z_]+", file.read_text()))
        assert named <= known, file.name


@pytest.mark.soak
def test_hadolint_has_no_complaint_about_the_image() -> None:
    program = Path(sys.executable).with_name("hadolint")
    ended = subprocess.run(
        [str(program), str(CLUSTER / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stdout + ended.stderr
