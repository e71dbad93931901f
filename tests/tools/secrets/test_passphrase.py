"""Keys that are encrypted with a passphrase."""

import pytest

from deskhand.tools.secrets.passphrase import unwrapped, wrapped
from deskhand.tools.store.errors import BadSecret


def test_only_the_passphrase_opens_the_key() -> None:
    text = wrapped(b"the key", "correct horse", 16)
    assert "the key" not in text
    assert unwrapped(text, "correct horse") == b"the key"
    with pytest.raises(BadSecret, match="passphrase"):
        unwrapped(text, "another")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"salt": 1}',
        '{"cost": 3, "salt": "", "nonce": "", "data": ""}',
        '{"salt": "", "nonce": "!", "data": ""}',
    ],
)
def test_a_text_that_was_changed_is_refused(text: str) -> None:
    with pytest.raises(BadSecret):
        unwrapped(text, "correct horse")
