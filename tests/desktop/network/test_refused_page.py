import pytest

from deskhand.desktop.network.egress import Egress, Grant
from deskhand.desktop.network.refused_page import TITLE, proxy_page, refusal

LIST = Egress("list", ("docs.example.com", "*.example.org"), (Grant("10.0.0.7", 80),))
NONE = Egress("none", (), (Grant("10.0.0.7", 80),))


def test_the_page_of_the_proxy_names_the_address_and_the_list() -> None:
    page = proxy_page(LIST.allow)
    assert f"<h1>{TITLE}</h1>" in page
    assert "The host of the address below is not among" in page
    # Whatever is in the address, it is text.
    assert page.rpartition("<plaintext")[2].endswith(">{url}\n")
    assert "(egress, mode list: docs.example.com, *.example.org)" in page
    assert "mode list: no name" in proxy_page([])


@pytest.mark.parametrize(
    "address",
    ["https://evil.test/", "https://example.org/", "https://203.0.113.7:8443/", "https://[::2]/"],
)
def test_a_host_that_is_not_listed_is_named_with_the_list(address: str) -> None:
    title, sentence, _ = refusal(LIST, address)
    assert title == TITLE
    assert (
        address.removeprefix("https://").strip("/[]").removesuffix(":8443").strip("]") in sentence
    )
    assert sentence.endswith("(egress, mode list: docs.example.com, *.example.org).")


def test_a_long_list_is_shortened() -> None:
    egress = Egress("list", tuple(f"n{number}.test" for number in range(23)))
    assert refusal(egress, "https://evil.test/")[1].endswith("n19.test and 3 more).")


@pytest.mark.parametrize(
    "address",
    [
        *("https://docs.example.com/x", "https://a.b.example.org/", "http://evil.test/"),
        *(
            "https://10.0.0.7/",
            "https://localhost/",
            "https://app.localhost/",
            "https://127.1.2.3/",
        ),
        *("about:blank", "chrome://version/", "data:text/html,https://evil.test", "https://", ""),
        *("https://[x]/", "file:///etc/passwd"),
    ],
)
def test_addresses_that_the_list_does_not_refuse_have_no_page(address: str) -> None:
    assert not refusal(LIST, address)


def test_without_a_network_each_host_is_refused_but_grants() -> None:
    for scheme in ("http", "https"):
        assert "evil.test cannot be reached" in refusal(NONE, f"{scheme}://evil.test/")[1]
        assert not refusal(NONE, f"{scheme}://10.0.0.7/")


def test_open_and_internet_refuse_no_name() -> None:
    assert not refusal(Egress(), "https://evil.test/")
    assert not refusal(Egress("internet"), "https://evil.test/")


@pytest.mark.parametrize(
    ("address", "command"),
    [
        ("http://127.0.0.1:3000/a?$(id)#`id`", "http://127.0.0.1:3000"),
        ("https://user:$(id)@app.localhost/x", "https://localhost:443"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://0.0.0.0:8000/", "http://127.0.0.1:8000"),
        ("http://10.0.0.7/", "http://10.0.0.7:80"),
    ],
)
def test_with_internet_an_address_of_the_host_is_named_with_the_command_that_grants_it(
    address: str, command: str
) -> None:
    title, sentence, advice = refusal(Egress("internet"), address)
    assert title == TITLE
    assert command.partition("//")[2] in sentence
    assert advice.endswith(f": deskhand open {command}")
    # A server of the desktop itself may have answered.
    assert not refusal(Egress("internet"), address, failed=False)
    assert not refusal(Egress(), address)


@pytest.mark.parametrize(
    "address",
    [
        *("http://10.0.0.7/", "http://1.1.1.1/", "http://169.254.169.254/", "http://[fd00::1]/"),
        *("http://127.0.0.1:80/", "http://127.0.0.1:99999/", "ftp://127.0.0.1/"),
        *("file:///etc/passwd", "about:blank", "http://[x]/", ""),
    ],
)
def test_with_internet_other_addresses_and_grants_have_no_page(address: str) -> None:
    grants = Grant("10.0.0.7", 80), Grant("localhost", 80)
    assert not refusal(Egress("internet", (), grants), address)
