import re

import pytest

from deskhand.tools.oidc.sign_in_secret import LONGEST_ONWARD, SignInSecret

BACK = "https://desk.example/login/oidc/callback"


def test_state_nonce_and_verifier_differ_and_belong_to_the_secret() -> None:
    one, same, other = SignInSecret("one"), SignInSecret("one"), SignInSecret("other")
    derived = [
        value for secret in (one, other) for value in (secret.state, secret.nonce, secret.verifier)
    ]
    assert len(set(derived)) == 6
    assert derived[:3] == [same.state, same.nonce, same.verifier]


def test_a_verifier_has_the_form_of_rfc_7636() -> None:
    assert re.fullmatch(r"[A-Za-z0-9._~-]{43,128}", SignInSecret("one").verifier)


def test_the_secret_is_not_printed() -> None:
    assert "one" not in repr(SignInSecret("one"))


@pytest.mark.parametrize("onward", ["", "/runs/7?t=1&x=ü.漢", "/" + "x" * (LONGEST_ONWARD - 1)])
def test_the_end_and_both_addresses_are_in_the_cookie(onward: str) -> None:
    begun = SignInSecret.begun("abc_-", 1790000000.9, onward, BACK)
    held = SignInSecret(begun.value)
    assert (held.ends_at, held.onward, held.redirect_uri) == (1790000000.0, onward, BACK)
    # A cookie has no other characters, and at most 4,096 (RFC 6265).
    longest = SignInSecret.begun("abc", 1.0, "/" * 2000, BACK).value
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,2800}", longest)


def test_a_cookie_that_was_changed_has_another_state() -> None:
    begun = SignInSecret.begun("abc", 1790000000.0, "/runs/7", BACK)
    secret, _, page, back = begun.value.split(".")
    assert SignInSecret(f"{secret}.1790009999.{page}.{back}").state != begun.state
    assert SignInSecret(f"{begun.value}A").state != begun.state


@pytest.mark.parametrize("onward", ["/" + "x" * LONGEST_ONWARD, "/runs/\0", "/\u202e"])
def test_a_page_that_cannot_be_one_is_not_kept(onward: str) -> None:
    assert SignInSecret.begun("abc", 1.0, onward, BACK).onward == ""


@pytest.mark.parametrize("value", ["", "abc", "abc.x.y", "abc.-1.", "abc.\u0661.", "abc..\xff.ü"])
def test_another_cookie_is_of_no_sign_in(value: str) -> None:
    assert SignInSecret(value).ends_at == 0.0


@pytest.mark.parametrize("value", ["abc.1.A", "abc.1._w"])
def test_a_page_that_is_no_text_is_the_first_one(value: str) -> None:
    assert SignInSecret(value).onward == ""
