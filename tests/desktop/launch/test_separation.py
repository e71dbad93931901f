import pytest

from deskhand.desktop.launch.separation import is_separated, listening_descriptors

SERVICE = ("/usr/bin/python3", "-P", "-m", "deskhand.desktop")


def test_root_separates_a_desktop_with_a_user_of_its_own() -> None:
    assert is_separated((*SERVICE, "--json", "--folder", "/x"), user=0)
    assert is_separated((*SERVICE, "--uid-base", "100000"), user=0)


def test_others_do_not() -> None:
    assert not is_separated(SERVICE, user=1000)


@pytest.mark.parametrize("option", ["--user", "--user=root", "--us", "--attach", "--attach=:0"])
def test_a_desktop_that_shares_what_its_user_has_is_not_separated(option: str) -> None:
    assert not is_separated((*SERVICE, option), user=0)


def test_only_the_service_is_separated() -> None:
    assert not is_separated(("/bin/sh", "-c", "exit"), user=0)


def test_listening_sockets_are_found_in_the_command() -> None:
    assert listening_descriptors((*SERVICE, "--listen", "fd:7", "--json")) == (7,)
    assert listening_descriptors((*SERVICE, "--listen=fd:8")) == (8,)
    assert listening_descriptors((*SERVICE, "--listen", "unix:/x", "fd:9", "fd:x")) == ()
