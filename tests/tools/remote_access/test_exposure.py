import pytest

from deskhand.tools.remote_access.errors import InvalidRemoteAccess
from deskhand.tools.remote_access.exposure import (
    check_certificate_files,
    check_exposure,
    local_host,
    ssh_forward,
)


@pytest.mark.parametrize(
    ("host", "local"),
    [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("192.0.2.7", "192.0.2.7"), ("desk", "desk")],
)
def test_programs_of_this_machine_use_loopback_of_an_unspecified_address(
    host: str, local: str
) -> None:
    assert local_host(host) == local


def test_other_machines_are_served_with_tls_or_on_request_only() -> None:
    check_exposure("127.0.0.1", tls=False, insecure=False)
    check_exposure("", tls=False, insecure=False)
    check_exposure("0.0.0.0", tls=True, insecure=False)
    check_exposure("0.0.0.0", tls=False, insecure=True)
    with pytest.raises(InvalidRemoteAccess, match=r"--insecure") as refused:
        check_exposure("0.0.0.0", tls=False, insecure=False)
    assert refused.value.setting == "listen"
    assert "\n" not in str(refused.value)


def test_certificate_and_key_are_given_together() -> None:
    check_certificate_files("", "")
    check_certificate_files("a", "b")
    with pytest.raises(InvalidRemoteAccess, match=r"^tls_key: "):
        check_certificate_files("a", "")
    with pytest.raises(InvalidRemoteAccess, match=r"^tls_cert: "):
        check_certificate_files("", "b")


CONNECTION = "198.51.100.2 51000 192.0.2.7 22"


@pytest.mark.parametrize(
    ("connection", "host", "command"),
    [
        (CONNECTION, "127.0.0.1", "ssh -N -L 7777:127.0.0.1:7777 ada@192.0.2.7"),
        (CONNECTION, "::1", "ssh -N -L 7777:[::1]:7777 ada@192.0.2.7"),
        (
            CONNECTION[:-2] + "2222",
            "127.0.0.1",
            "ssh -N -L 7777:127.0.0.1:7777 -p 2222 ada@192.0.2.7",
        ),
        (CONNECTION, "0.0.0.0", None),
        ("", "127.0.0.1", None),
    ],
)
def test_over_ssh_a_command_forwards_the_port(
    connection: str, host: str, command: str | None
) -> None:
    assert ssh_forward(connection, "ada", host, 7777) == command
