from typing import Any

import pytest

from deskhand.tools.cluster.setting_rules import (
    NAMES,
    cluster_problem,
    database_problem,
    plane_problem,
)

GOOD: dict[str, Any] = {
    "certificates": "/c",
    "cluster": "10.0.0.5:6379",
    "database": "postgresql://h/d",
    "insecure": False,
    "internal_listen": "[fd00::5]:7443",
    "node_names": ("*.desk.example.com", "n7.example.com:8443", "n7"),
    "places": 8,
    "public_listen": "0.0.0.0:443",
    "ray_port": 7460,
    "store": "s3://deskhand",
    "tls_cert": "/t",
}
NONE = dict.fromkeys(GOOD, "") | {"node_names": (), "places": 1, "ray_port": 0, "insecure": False}


def test_settings_of_a_cluster_are_accepted_and_none_are_needed() -> None:
    assert set(NAMES) == GOOD.keys()
    assert cluster_problem(GOOD) is None
    assert cluster_problem(NONE) is None
    assert cluster_problem(GOOD | {"tls_cert": "", "insecure": True}) is None


@pytest.mark.parametrize(
    ("wrong", "name", "reason"),
    [
        ({"internal_listen": "7443"}, "internal_listen", "HOST:PORT"),
        ({"certificates": ""}, "internal_listen", "certificates and database"),
        ({"database": ""}, "internal_listen", "certificates and database"),
        ({"cluster": "ray://h:1"}, "cluster", "HOST:PORT"),
        ({"public_listen": "443"}, "public_listen", "HOST:PORT"),
        ({"tls_cert": ""}, "public_listen", "tls_cert"),
        ({"places": 0}, "places", "1 to 4096"),
        ({"ray_port": 80}, "ray_port", "1024"),
        ({"ray_port": 65500}, "ray_port", "65486"),
        ({"node_names": ("https://n7.example.com",)}, "node_names", "is no name such as"),
        ({"node_names": ("n7; script-src *",)}, "node_names", "is no name such as"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Any], name: str, reason: str) -> None:
    found = cluster_problem(GOOD | wrong)
    assert found is not None
    assert found[0] == name
    assert reason in found[1]


SECRET = "s3cret"
PLACES = (
    "give PGPASSWORD, PGPASSFILE (a file that only its owner reads),"
    " or postgresql://USER:PASSWORD@HOST/NAME in DESKHAND_DATABASE"
)


@pytest.mark.parametrize("in_environment", [True, False])
@pytest.mark.parametrize(
    ("query", "name"),
    [
        (f"password={SECRET}", "password"),
        (f"ssl=verify-full&password={SECRET}", "password"),
        (f"pass%77ord={SECRET}", "password"),
        (f"a#b&password={SECRET}", "password"),
        ("password=", "password"),
        (f"sslpassword={SECRET}", "sslpassword"),
        (f"SSLPassword={SECRET}", "SSLPassword"),
    ],
)
def test_a_password_in_the_query_of_the_database_is_refused_wherever_it_comes_from(
    query: str, name: str, in_environment: bool
) -> None:
    for place in ("ann@db/deskhand", "db/deskhand", "ann:other@db/deskhand", "ann:a?b@db/deskhand"):
        url = f"postgresql://{place}?{query}"
        found = database_problem(url, in_environment=in_environment)
        assert found == f"errors and logs would show {name} of the URL's query; {PLACES}"


@pytest.mark.parametrize("password", [SECRET, "s3/cret", "s3?cret", "s3#cret", "s3:cret"])
def test_a_password_of_the_user_is_accepted_in_the_environment_alone(password: str) -> None:
    url = f"postgresql://ann:{password}@db/deskhand"
    assert database_problem(url, in_environment=True) is None
    found = database_problem(url, in_environment=False)
    assert found == f"a password does not belong into deskhand.toml; {PLACES}"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db/deskhand",
        "postgresql://ann@[fd00::5]:5432/deskhand?ssl=verify-full",
        "postgresql://ann:@db/deskhand",
        "postgresql:///deskhand?host=/run/postgresql&user=ann&passfile=/etc/deskhand/pgpass",
    ],
)
def test_a_database_without_a_password_is_accepted(url: str) -> None:
    for in_environment in (True, False):
        assert database_problem(url, in_environment=in_environment) is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mysql://ann@db/deskhand", "give a URL such as postgresql://"),
        ("postgresql://", "give a URL such as postgresql://"),
        ("postgresql://[::1/deskhand", "the URL is not valid; "),
        (f"postgresql://ann:{SECRET}\u2100@db/deskhand", "the URL is not valid; "),
    ],
)
def test_what_is_no_url_of_a_database_is_refused(url: str, reason: str) -> None:
    found = database_problem(url, in_environment=True)
    assert found is not None
    assert found.startswith(reason)
    assert SECRET not in found


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        (("store",), "store is needed, too"),
        (("database", "store"), "database and store are needed, too"),
        (("certificates", "database", "store"), "certificates, database and store are needed, too"),
    ],
)
def test_a_control_plane_with_nodes_needs_what_all_control_planes_reach(
    missing: tuple[str, ...], reason: str
) -> None:
    found = plane_problem(GOOD | dict.fromkeys(missing, ""))
    assert found == ("cluster", f"{reason}, by a control plane; see docs/cluster.md")
    assert plane_problem(GOOD) is None
    assert plane_problem(NONE) is None
    # A node reads the same rules, and must not have these settings.
    node = GOOD | {"internal_listen": "", "database": "", "store": ""}
    assert cluster_problem(node) is None
