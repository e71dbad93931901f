import pytest

from deskhand.vncbridge.http.etags import matches


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, False),
        ('"a"', True),
        ('W/"a"', True),
        ('"x", "a"', True),
        ("*", True),
        (' W/"x" , * ', True),
        ('"x,*,"', False),
        ("a*", False),
        ('"b"', False),
        ("a", False),
        ("", False),
    ],
)
def test_a_client_has_the_bytes_when_it_names_their_tag(header: str | None, expected: bool) -> None:
    assert matches(header, '"a"') is expected
