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
