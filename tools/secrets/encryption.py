"""Authenticated encryption of the secret store: AES-256-GCM with a key derived by HKDF."""

import base64
import hashlib
import json
import os
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from deskhand.tools.store.errors import BadSecret

_PURPOSE = b"deskhand secret store 1"
# NIST SP 800-38D recommends 96 bits. A file is written far fewer than 2^32 times with one key.
_NONCE_BYTES = 12


def key_id(secret: bytes) -> str:
    """Return a name of a key's secret, from which the secret cannot be derived."""
    return hashlib.sha256(_PURPOSE + b" id" + secret).hexdigest()[:16]


def encrypted(text: str, secret: bytes) -> str:
    """Return the content of a file that only the secret of a key opens."""
    nonce = os.urandom(_NONCE_BYTES)
    data = AESGCM(_derived(secret)).encrypt(nonce, text.encode(), _PURPOSE)
    fields = {"nonce": nonce, "data": data}
    encoded = {name: base64.b64encode(value).decode() for name, value in fields.items()}
    return json.dumps({"format": 1, "key": key_id(secret), **encoded})


def key_of(content: str) -> str:
    """Return the id of the key with which a file was encrypted.

    Raises:
        BadSecret: If the content is no file of this module.
    """
    return str(_fields(content)["key"])


def decrypted(content: str, secret: bytes) -> str:
    """Return the text.

    Raises:
        BadSecret: If the content was changed, or the key is another one.
    """
    fields = _fields(content)
    try:
        nonce, data = (base64.b64decode(fields[name], validate=True) for name in ("nonce", "data"))
        return AESGCM(_derived(secret)).decrypt(nonce, data, _PURPOSE).decode()
    except (InvalidTag, KeyError, TypeError, ValueError) as error:
        raise BadSecret("it was changed, or encrypted with another key") from error


def _fields(content: str) -> dict[str, Any]:
    try:
        fields = json.loads(content)
        if not isinstance(fields, dict) or fields["format"] != 1:
            raise BadSecret("its format is unknown")
        return {**fields, "key": fields["key"]}
    except (ValueError, KeyError) as error:
        raise BadSecret("it is no encrypted store of secrets") from error


def _derived(secret: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret)
