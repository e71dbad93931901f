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
def test_a_caller_has_the_tags_that_it_names(
    header: str, has: tuple[str, ...], lacks: tuple[str, ...]
) -> None:
    known = etags(header)
    assert all(tag in known for tag in has)
    assert not any(tag in known for tag in lacks)
