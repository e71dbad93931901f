from pathlib import Path

import pytest

from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.remote_access.errors import InvalidRemoteAccess
from deskhand.tools.remote_access.remote_access import remote_access

DATA = Path("/data")


def test_by_default_there_is_no_other_address_and_no_proxy_is_trusted() -> None:
    access = remote_access(Settings(data_dir=DATA))
    assert access.public is None
    assert "127.0.0.1" not in access.proxies


def test_settings_name_the_public_address_and_the_proxies() -> None:
    settings = Settings(
        data_dir=DATA, public_url="https://desk.example", trusted_proxy=("127.0.0.1",)
    )
    access = remote_access(settings)
    assert access.public is not None
    assert access.public.host == "desk.example"
    assert "127.0.0.1" in access.proxies


def test_a_certificate_without_a_key_is_refused() -> None:
    with pytest.raises(InvalidRemoteAccess, match=r"^tls_key: "):
        remote_access(Settings(data_dir=DATA, tls_cert="cert.pem"))
