import json

import pytest

from deskhand.tools.secrets.encryption import decrypted, encrypted, key_id, key_of
from deskhand.tools.store.errors import BadSecret

KEY = b"a key"


def test_a_text_is_read_only_with_its_key() -> None:
    content = encrypted("Käse ✓", KEY)
    assert "Käse" not in content
    assert decrypted(content, KEY) == "Käse ✓"
    assert key_of(content) == key_id(KEY)
    assert encrypted("Käse ✓", KEY) != content
    with pytest.raises(BadSecret, match="another key"):
        decrypted(content, b"b key")


@pytest.mark.parametrize("field", ["data", "nonce"])
@pytest.mark.parametrize("value", ["", "AAAA", "ä", 3])
def test_a_changed_text_is_refused(field: str, value: object) -> None:
    fields = json.loads(encrypted("text", KEY))
    with pytest.raises(BadSecret):
        decrypted(json.dumps({**fields, field: value}), KEY)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 2, "key": ""}', '{"format": 1}'])
def test_other_contents_are_refused(content: str) -> None:
    with pytest.raises(BadSecret):
        key_of(content)
