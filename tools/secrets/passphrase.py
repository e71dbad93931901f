"""A key of the secret store encrypted with a passphrase, for a backup that includes the key.

The key of AES-256-GCM is derived by scrypt (https://www.rfc-editor.org/rfc/rfc7914), which takes
128 MiB and about half a second for each guess.
"""

import base64
import json
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from deskhand.tools.store.errors import BadSecret

SHORTEST = 8
"""Characters of a passphrase."""
_PURPOSE = b"deskhand backup key 1"
COST, _BLOCK, _LANES = 2**17, 8, 1


def wrapped(secret: bytes, passphrase: str, cost: int = COST) -> str:
    """Return the secret of a key as a text that only the passphrase opens.

    ``cost`` is the parameter N of scrypt.
    """
    salt, nonce = os.urandom(16), os.urandom(12)
    data = AESGCM(_derived(passphrase, salt, cost)).encrypt(nonce, secret, _PURPOSE)
    fields = {"salt": salt, "nonce": nonce, "data": data}
    encoded = {name: base64.b64encode(one).decode() for name, one in fields.items()}
    return json.dumps({"cost": cost, **encoded})


def unwrapped(text: str, passphrase: str) -> bytes:
    """Return the secret of the key.

    Raises:
        BadSecret: If the passphrase is another one, or the text was changed.
    """
    try:
        fields = json.loads(text)
        salt, nonce, data = (
            base64.b64decode(fields[name], validate=True) for name in ("salt", "nonce", "data")
        )
        # A higher cost in a text that was changed would take all memory.
        cost = min(int(fields["cost"]), COST)
        return AESGCM(_derived(passphrase, salt, cost)).decrypt(nonce, data, _PURPOSE)
    except (InvalidTag, KeyError, TypeError, ValueError) as error:
        raise BadSecret("the passphrase does not open the key of the backup") from error


def _derived(passphrase: str, salt: bytes, cost: int) -> bytes:
    derivation = Scrypt(salt=salt, length=32, n=cost, r=_BLOCK, p=_LANES)
    return derivation.derive(passphrase.encode())
