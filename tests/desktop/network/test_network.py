import pytest

from deskhand.desktop.isolation.account import Account
from deskhand.desktop.isolation.desktop_user import DesktopUser
from deskhand.desktop.network.egress import Egress, parse_egress
from deskhand.desktop.network.errors import EgressUnavailable
from deskhand.desktop.network.network import joined

NAMED = Account.of_one_user(DesktopUser("alice", 1000, 1000), "user")


def test_open_changes_nothing() -> None:
    with joined(Egress(), NAMED) as network:
        assert network.egress == Egress()
        assert (network.because, network.environment, network.packets) == ("", {}, None)


@pytest.mark.parametrize("mode", ["internet", "list", "none"])
def test_a_user_that_was_requested_gets_no_network_of_its_own(mode: str) -> None:
    egress = parse_egress(mode)
    with (
        pytest.raises(EgressUnavailable, match=f"egress {mode} cannot be enforced: "),
        joined(egress, NAMED),
    ):
        pass


def test_a_default_that_cannot_be_enforced_is_open_with_the_reason() -> None:
    egress = parse_egress("internet", (), ["127.0.0.1:80"], required=False)
    with joined(egress, NAMED) as network:
        assert network.egress.mode == "open"
        assert network.because in (
            "the desktop works as the user alice",
            "only root can make a network namespace",
        )
        assert network.to_json()["because"] == network.because
