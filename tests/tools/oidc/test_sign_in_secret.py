import re

from deskhand.tools.oidc.sign_in_secret import SignInSecret


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
