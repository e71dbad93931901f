import pytest

from deskhand.tools.secrets.secret import EnteredText, Secret, check, rotated
from deskhand.tools.store.errors import BadSecret

HORSE = "correct horse"
SEED = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
ADDRESS = f"otpauth://totp/mail?secret={SEED}"


@pytest.mark.parametrize(
    "secret",
    [
        Secret("mail", HORSE, anywhere=True),
        Secret("mail", "12345678", anywhere=True),
        Secret("a.b-c_D", "4821", ("a",), ("bank.example", "localhost")),
        Secret("mail", HORSE, (), ("xn--bnk-ula.example",), without_execute=True),
    ],
)
def test_a_secret_names_its_domains_or_may_be_typed_anywhere(secret: Secret) -> None:
    check(secret)
    assert secret.state == "ready"


@pytest.mark.parametrize(
    ("secret", "reason"),
    [
        (Secret("", HORSE, anywhere=True), "a name has"),
        (Secret("../x", HORSE, anywhere=True), "a name has"),
        (Secret("mail", HORSE), "it needs domains"),
        (Secret("mail", HORSE, domains=()), "domains are"),
        (Secret("mail", HORSE, domains=("ok", "https://a/")), "domains are"),
        (Secret("mail", HORSE, domains=("a.example",), anywhere=True), "not both"),
        (Secret("mail", HORSE, anywhere=True, any_field=True), "is for a secret with domains"),
        (Secret("mail", "1234567", anywhere=True), "fewer than 8 characters needs domains"),
    ],
)
def test_what_cannot_be_kept_is_refused_without_its_value(secret: Secret, reason: str) -> None:
    with pytest.raises(BadSecret, match=reason) as refused:
        check(secret)
    assert secret.value not in str(refused.value)


def test_a_rotated_secret_keeps_the_rules_that_are_not_given() -> None:
    old = Secret("mail", HORSE, ("a",), ("a.example",), without_execute=True)
    assert rotated(old, "new", {}) == Secret("mail", "new", ("a",), ("a.example",), False, True)
    assert rotated(old, "new", {"chats": None}).chats is None
    every = rotated(old, "new", {"any_field": True})
    assert (rotated(every, "new", {}).any_field, every.domains) == (True, ("a.example",))
    check(rotated(every, HORSE, {"anywhere": True}))
    anywhere = rotated(old, "new", {"anywhere": True})
    assert (anywhere.anywhere, anywhere.domains) == (True, None)
    back = rotated(anywhere, "new", {"domains": ("b.example",)})
    assert (back.anywhere, back.domains) == (False, ("b.example",))


def test_a_secret_of_an_earlier_version_needs_domains() -> None:
    assert Secret("mail", HORSE).state == "needs_domains"


def test_a_secret_is_for_its_chats_and_those_below_them() -> None:
    assert Secret("mail", HORSE).allows(["a"])
    assert Secret("mail", HORSE, ("a",)).allows(["child", "a"])
    assert not Secret("mail", HORSE, ("a",)).allows(["b"])


def test_a_secret_may_be_for_chats_that_cannot_run_programs() -> None:
    secret = Secret("mail", HORSE, ("a",), without_execute=True)
    assert secret.allows(["a"], execute=False)
    assert not secret.allows(["a"], execute=True)
    assert not secret.allows(["b"], execute=False)
    assert secret.is_given(["a"])


def test_of_a_one_time_code_the_code_is_typed_and_the_seed_is_masked() -> None:
    codes = Secret("code", ADDRESS, None, ("mail.example",), kind="totp")
    check(codes)
    assert codes.entered(30.0) == EnteredText("287082", 30.0)
    assert (codes.wait(30.0), codes.wait(59.0)) == (0.0, 1.0)
    assert codes.masked == (ADDRESS, SEED, SEED.lower())
    text = Secret("mail", HORSE, anywhere=True)
    assert (text.entered(59.0), text.wait(59.0)) == (EnteredText(HORSE), 0.0)
    assert text.masked == (HORSE,)


def test_a_rotated_secret_keeps_its_kind() -> None:
    codes = Secret("code", ADDRESS, None, ("mail.example",), kind="totp")
    assert rotated(codes, ADDRESS, {}).kind == "totp"
    with pytest.raises(BadSecret, match="needs the address of its QR code"):
        check(rotated(codes, HORSE, {}))
    check(rotated(codes, HORSE, {"kind": "text"}))
