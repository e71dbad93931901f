import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.errors import InvalidSecret
from deskhand.desktop.secrets.redaction import LONGEST, MASK, MOST, MOST_CODES, SecretRedactor

SECRETS = st.lists(st.text("abcä.*\n", min_size=4, max_size=8), max_size=5)


def redactor(*values: str) -> SecretRedactor:
    redactor = SecretRedactor()
    redactor.add(values)
    return redactor


def test_without_secrets_every_word_is_read() -> None:
    assert SecretRedactor()("tom: hunter2") == "tom: hunter2"
    assert redactor()("") == ""


def test_every_place_of_a_secret_is_masked() -> None:
    mask = redactor("hunter2", "a.*b")
    assert mask("hunter2 or hunter22, a.*b, aXXb") == f"{MASK} or {MASK}2, {MASK}, aXXb"
    assert len(mask) == 2


def test_of_two_secrets_with_one_beginning_the_longer_is_masked_whole() -> None:
    assert redactor("open", "open sesame")("open sesame") == MASK
    mask = redactor("open")
    mask.add(["open sesame", "open"])
    assert (mask("open sesame"), len(mask)) == (MASK, 2)


def test_what_is_cleared_is_read_again() -> None:
    mask = redactor("hunter2")
    mask.clear()
    assert (mask("hunter2"), len(mask)) == ("hunter2", 0)


@pytest.mark.parametrize("value", ["", "abc", "x" * (LONGEST + 1)])
def test_a_value_of_no_use_is_refused_without_being_told(value: str) -> None:
    mask = redactor("hunter2")
    with pytest.raises(InvalidSecret, match="a secret has 4 to 10000 characters"):
        mask.add(["good enough", value])
    assert mask("hunter2 good enough") == f"{MASK} good enough"


def test_there_is_an_end_to_secrets() -> None:
    mask = redactor(*(f"secret {number}" for number in range(MOST)))
    mask.add(["secret 7"])
    with pytest.raises(InvalidSecret, match="at most 1000"):
        mask.add(["one more"])


@given(SECRETS, st.text("abcä.*\n •"))
def test_no_secret_is_left(values: list[str], text: str) -> None:
    masked = redactor(*values)(text)
    assert not any(value in masked for value in values)


def test_of_one_time_codes_the_last_ones_are_masked() -> None:
    mask = redactor("hunter2")
    mask.add_codes(["287082"])
    assert mask("hunter2 287082") == f"{MASK} {MASK}"
    mask.add_codes([f"{number:06}" for number in range(MOST_CODES)])
    assert mask("hunter2 287082 000000") == f"{MASK} 287082 {MASK}"
    # Codes take no place of a secret, so that a desktop of many sign-ins goes on typing them.
    assert len(mask) == 1
    with pytest.raises(InvalidSecret):
        mask.add_codes(["123456", "1"])
    assert mask("123456") == "123456"
    mask.clear()
    assert mask("000000") == "000000"
