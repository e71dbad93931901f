import pytest

from deskhand.desktop.context.sanitizing import sanitized


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  a\r\nb\rc\n ", "a\nb\nc"),
        ("a<!-- hidden\n words -->b", "ab"),
        ("a<!<!-- x -->-- y -->b", "ab"),
        ("a<\u200b!-- x -->b", "ab"),
        ("a<!-- open", "a<!-- open"),
        ("pass\u200bword\u202e\u2066\ufeff\u00ad\U000e0041", "password"),
        ("a\u200cb", "a\u200cb"),
        ("a\tb\x1b[31m\x00", "a\tb[31m"),
        ("\ufe0f\u3164\u180e", ""),
        ("<!-- only -->", ""),
    ],
)
def test_a_text_loses_what_people_do_not_see(text: str, shown: str) -> None:
    assert sanitized(text) == shown
