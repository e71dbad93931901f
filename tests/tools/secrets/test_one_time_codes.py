import pytest

from deskhand.tools.secrets.one_time_codes import (
    CodeGenerator,
    OneTimeCode,
    code_generator,
    written_seeds,
)
from deskhand.tools.store.errors import BadSecret

# The seeds of RFC 6238, appendix B, in base32: "12345678901234567890" and longer ones.
SEED = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
SEED_256 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA"
SEED_512 = SEED * 3 + "GEZDGNA"
ADDRESS = f"otpauth://totp/Mail:tom%40mail.example?secret={SEED}&issuer=Mail"


@pytest.mark.parametrize(
    ("digest", "seed", "now", "code"),
    [
        ("SHA1", SEED, 59, "94287082"),
        ("SHA1", SEED, 1111111109, "07081804"),
        ("SHA1", SEED, 20000000000, "65353130"),
        ("SHA256", SEED_256, 59, "46119246"),
        ("SHA512", SEED_512, 59, "90693936"),
    ],
)
def test_the_codes_are_those_of_the_rfc(digest: str, seed: str, now: float, code: str) -> None:
    address = f"otpauth://totp/x?secret={seed}&digits=8&algorithm={digest}"
    assert code_generator(address).at(now).text == code


def test_a_code_is_valid_until_its_period_ends() -> None:
    codes = code_generator(ADDRESS)
    assert codes.at(30.0) == OneTimeCode("287082", 30.0)
    assert codes.at(59.5) == OneTimeCode("287082", 0.5)
    assert code_generator(f"{ADDRESS}&period=60").at(59.5).seconds_left == 0.5


@pytest.mark.parametrize(
    ("now", "seconds"), [(30.0, 0.0), (54.9, 0.0), (55.0, 0.0), (55.5, 4.5), (59.5, 0.5)]
)
def test_a_code_that_expires_at_once_waits_for_the_next(now: float, seconds: float) -> None:
    assert code_generator(ADDRESS).wait(now) == seconds


def test_an_address_is_read_as_sites_write_it() -> None:
    assert code_generator(ADDRESS) == CodeGenerator(SEED)
    lower = f"otpauth://TOTP/x?Secret={SEED.lower()}%3D%3D%3D&algorithm=sha-256&foo=1"
    assert code_generator(f" {lower}\n") == CodeGenerator(SEED, digest="SHA256")
    spaced = "otpauth://totp/?secret=gezd%20gnbv-gy3t+qojq&period=60&digits=7"
    assert code_generator(spaced) == CodeGenerator(SEED[:16], 7, 60)
    # What a page of the site shows is masked in each form.
    assert written_seeds(spaced) == ("gezd gnbv-gy3t qojq", SEED[:16], SEED[:16].lower())


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (SEED, "needs the address of its QR code, as otpauth://totp/"),
        ("otpauth-migration://offline?data=GEZDGNBV", "needs the address of its QR code"),
        (f"otpauth://hotp/x?secret={SEED}&counter=1", "only codes by time are typed"),
        ("otpauth://totp/x", "the address has no seed; it looks like otpauth://totp/"),
        ("otpauth://totp/x?secret=GEZDGNBV!Y3TQOJQ", "not base32: letters and 2 to 7"),
        ("otpauth://totp/x?secret=GEZDGNBVGY3TQOJ0", "not base32"),
        ("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGÉ", "not base32"),
        ("otpauth://totp/x?secret=GEZDGNBV", "fewer than 16 characters"),
        (f"{ADDRESS}&algorithm=MD5", "must be one of SHA1, SHA256, SHA512"),
        (f"{ADDRESS}&digits=5", "the digits of the address must be 6 to 8"),
        (f"{ADDRESS}&digits=six", "the digits of the address must be 6 to 8"),
        (f"{ADDRESS}&period=0", "the period of the address must be 15 to 300"),
        (f"{ADDRESS}&period=99999999999", "the period of the address must be 15 to 300"),
        (f"{ADDRESS}&encoder=steam", "an encoder of their own"),
        (f"otpauth://totp/a\nb?secret={SEED}", "characters that no address has"),
        (f"otpauth://[/x?secret={SEED}", "characters that no address has"),
    ],
)
def test_a_wrong_address_is_refused_without_the_seed(address: str, reason: str) -> None:
    with pytest.raises(BadSecret) as refused:
        code_generator(address)
    assert reason in str(refused.value)
    assert "GEZD" not in str(refused.value)
