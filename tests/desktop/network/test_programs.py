from collections.abc import Callable
from pathlib import Path

from deskhand.desktop.network.programs import missing

HERE = Path(__file__)


def only(*names: str) -> Callable[[str], str | None]:
    return lambda name: f"/usr/bin/{name}" if name in names else None


def test_open_and_none_need_no_program() -> None:
    assert missing("open", only(), HERE) == ""
    assert missing("none", only(), HERE) == ""


def test_what_is_missing_is_named_with_its_package() -> None:
    assert missing("internet", only("slirp4netns"), HERE) == (
        "nft is not installed (apt-get install nftables)"
    )
    assert missing("list", only("nft", "slirp4netns"), HERE) == (
        "tinyproxy is not installed (apt-get install tinyproxy-bin)"
    )
    assert missing("list", only("nft"), HERE) == (
        "slirp4netns and tinyproxy are not installed (apt-get install slirp4netns tinyproxy-bin)"
    )


def test_a_machine_without_the_device_of_the_interface_cannot_connect_a_namespace() -> None:
    every = only("nft", "slirp4netns", "tinyproxy")
    assert missing("internet", every, HERE) == ""
    assert missing("internet", every, HERE / "none") == f"{HERE / 'none'} does not exist"
    assert missing("none", every, HERE / "none") == ""
