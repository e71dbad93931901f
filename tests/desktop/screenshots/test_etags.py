import pytest

from deskhand.desktop.screenshots.etags import etags


@pytest.mark.parametrize(
    ("header", "has", "lacks"),
    [
        ("", (), ("a", "")),
        ('"a"', ("a",), ("b", '"a"')),
        ('W/"a", "b,c"', ("a", "b,c"), ("c",)),
        ("a", (), ("a",)),
        ('"*"', ("*",), ("a",)),
        (" * ", ("a", "b"), ()),
    ],
)
def test_the_header_lists_the_tags_of_the_caller(
    header: str, has: tuple[str, ...], lacks: tuple[str, ...]
) -> None:
    known = etags(header)
    assert all(tag in known for tag in has)
    assert not any(tag in known for tag in lacks)
