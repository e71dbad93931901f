import json
from pathlib import Path

import pytest

from deskhand.desktop.isolation.protections import Protections, separated
from deskhand.desktop.network.egress import Egress, Grant
from deskhand.desktop.network.errors import InvalidEgress
from deskhand.desktop.network.network import DesktopNetwork
from deskhand.desktop.service.egress_settings import browser_policies, egress_of, with_egress
from deskhand.desktop.settings import parse


def test_the_egress_is_read_from_the_settings() -> None:
    assert egress_of(parse([])) == Egress()
    line = "--egress list --egress-allow A.example --egress-grant 127.0.0.1:80 --egress-optional"
    assert egress_of(parse(line.split())) == Egress(
        "list", ("a.example",), (Grant("127.0.0.1", 80),), required=False
    )


def test_the_options_of_an_egress_are_read_as_the_same_one() -> None:
    for egress in (Egress(), Egress("list", ("*.a.example",), (Grant("localhost", 1),))):
        assert egress_of(parse(egress.options)) == egress


def test_a_wrong_name_is_refused() -> None:
    with pytest.raises(InvalidEgress):
        egress_of(parse(["--egress", "list", "--egress-allow", "http://a.example"]))


def test_every_browser_gets_the_policy_of_the_proxy() -> None:
    policies = browser_policies(Egress("list", grants=(Grant("10.0.0.7", 80),)))
    policy = json.loads(policies[Path("/etc/chromium")])
    assert policy["ProxyServer"] == "http://127.0.0.1:3128"
    assert policy["ProxyBypassList"] == "localhost;127.0.0.1;::1;10.0.0.7"
    assert (policy["QuicAllowed"], policy["WebRtcIPHandling"]) == (
        *(False, "disable_non_proxied_udp"),
    )
    assert Path("/etc/opt/chrome") in policies


def test_an_egress_is_listed_with_the_protections_unless_all_is_reached_as_requested() -> None:
    given = Protections((separated(""),))
    assert with_egress(given, DesktopNetwork()) == given
    assert with_egress(given, DesktopNetwork(Egress("none"))).to_json()[-1] == {
        "name": "egress",
        "state": "on",
        "because": None,
    }
    lacking = with_egress(given, DesktopNetwork(Egress(), because="nft is not installed"))
    assert lacking.warnings == ["egress: open, because nft is not installed"]
