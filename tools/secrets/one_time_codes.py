"""One-time codes of an ``otpauth://`` address (RFC 6238). Pure.

The address is what a site shows as a QR code when a person sets up an authenticator (Key Uri Format
of Google Authenticator). No error contains a part of it: it has the seed.
"""

import binascii
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyotp

from deskhand.tools.store.errors import BadSecret

EXAMPLE = "otpauth://totp/mail.example?secret=SEED"
LEAST_LEFT = 5.0
"""Seconds that a code must still be valid to be typed: a form takes them until it is sent."""
DIGITS = range(6, 9)
SHORTEST_SEED = 16
"""Characters, which are 80 bits, the least that sites give."""
PERIODS = range(15, 301)
"""Seconds; 30 with nearly all sites."""
_DIGESTS: dict[str, Callable[..., Any]] = {
    "SHA1": hashlib.sha1,
    "SHA256": hashlib.sha256,
    "SHA512": hashlib.sha512,
}


class _Codes(pyotp.TOTP):
    """Codes of seeds of 80 bits too, as many sites give them; pyotp 2.12 asks for 112."""

    min_secret_length_bits = 80


@dataclass(frozen=True)
class OneTimeCode:
    """A code, and for how many seconds it is still valid."""

    text: str
    seconds_left: float


@dataclass(frozen=True)
class CodeGenerator:
    """The seed and the parameters of an address."""

    seed: str
    """In base32, without spaces and padding."""
    digits: int = 6
    period: int = 30
    digest: str = "SHA1"

    def at(self, now: float) -> OneTimeCode:
        """Return the code of a time, which is in seconds since 1970."""
        codes = _Codes(
            self.seed, digits=self.digits, digest=_DIGESTS[self.digest], interval=self.period
        )
        return OneTimeCode(codes.at(int(now)), self.period - now % self.period)

    def wait(self, now: float) -> float:
        """Return the seconds until a code can be typed that does not expire at once; mostly 0."""
        left = self.period - now % self.period
        return left if left < LEAST_LEFT else 0.0


def code_generator(address: str) -> CodeGenerator:
    """Read an address.

    Raises:
        BadSecret: If it is none; the text gives the reason without a part of the address.
    """
    parts = urlsplit(_printable(address.strip()))
    if parts.scheme != "otpauth":
        raise BadSecret(f"a one-time code needs the address of its QR code, as {EXAMPLE}")
    if parts.netloc.lower() != "totp":
        raise BadSecret(f"only codes by time are typed: the address begins as {EXAMPLE}")
    fields = {name.lower(): values[-1] for name, values in parse_qs(parts.query).items()}
    if "encoder" in fields:
        raise BadSecret("codes with an encoder of their own, as Steam's, are not typed")
    digest = fields.get("algorithm", "SHA1").upper().replace("-", "")
    if digest not in _DIGESTS:
        raise BadSecret(f"the algorithm of the address must be one of {', '.join(_DIGESTS)}")
    return CodeGenerator(
        _seed(fields.get("secret", "")),
        _number(fields, "digits", DIGITS, 6),
        _number(fields, "period", PERIODS, 30),
        digest,
    )


def written_seeds(address: str) -> tuple[str, ...]:
    """Return the forms in which the seed of an address may stand in a text."""
    query = parse_qs(urlsplit(address.strip()).query)
    written = [value for name, (*_, value) in query.items() if name.lower() == "secret"]
    seed = code_generator(address).seed
    return tuple(dict.fromkeys((*written, seed, seed.lower())))


def _printable(address: str) -> str:
    # urlsplit would drop line breaks, and its errors would contain the address.
    if not address.isprintable() or "[" in address or "]" in address:
        raise BadSecret(f"the address has characters that no address has; it looks like {EXAMPLE}")
    return address


def _seed(written: str) -> str:
    seed = "".join(written.split()).replace("-", "").rstrip("=").upper()
    if not seed:
        raise BadSecret(f"the address has no seed; it looks like {EXAMPLE}")
    if len(seed) < SHORTEST_SEED:
        raise BadSecret(f"the seed of the address has fewer than {SHORTEST_SEED} characters")
    try:
        _Codes(seed).at(0)
    except (binascii.Error, ValueError):
        raise BadSecret("the seed of the address is not base32: letters and 2 to 7") from None
    return seed


def _number(fields: dict[str, str], name: str, allowed: range, usual: int) -> int:
    text = fields.get(name, str(usual))
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else -1
    if number not in allowed:
        raise BadSecret(f"the {name} of the address must be {allowed[0]} to {allowed[-1]}")
    return number
