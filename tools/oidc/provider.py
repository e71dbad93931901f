"""An OpenID Connect provider: its addresses, its keys, and the code flow with PKCE. Owns `authlib`.

OpenID Connect Core 1.0, section 3.1 (code flow); RFC 7636 (PKCE). The signature of the ID token is
checked with the keys that the provider publishes, although it comes over the connection to it.
"""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode

import httpx2
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from .errors import ProviderFailed, SignInRefused

Json = dict[str, Any]
ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
"""Signatures with a key pair: with a shared secret, every client could make tokens."""
DISCOVERY = "/.well-known/openid-configuration"
SCOPE = "openid profile email groups"
SECONDS = 10.0
LEEWAY = 60
"""Seconds by which two clocks may differ."""


class OidcProvider:
    """A provider, at which this service is registered as a client."""

    def __init__(self, issuer: str, client_id: str, client_secret: str) -> None:
        self._issuer = issuer.rstrip("/")
        self._client_id = client_id
        self._secret = client_secret

    async def authorization_url(
        self, redirect_uri: str, state: str, nonce: str, verifier: str
    ) -> str:
        """Return the address at which a person signs in.

        Raises:
            ProviderFailed: If the provider does not answer.
        """
        endpoint = (await self._addresses())["authorization_endpoint"]
        parameters = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "scope": SCOPE,
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"

    async def claims(
        self, code: str, redirect_uri: str, nonce: str, verifier: str
    ) -> Mapping[str, Any]:
        """Return the claims about the person to whom the provider gave a code.

        Raises:
            ProviderFailed: If the provider does not answer.
            SignInRefused: If it refuses the code, or its token is not for this sign-in.
        """
        addresses = await self._addresses()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        answer = await _request("POST", addresses["token_endpoint"], form, self._client())
        keys = await _request("GET", addresses["jwks_uri"])
        wanted = {
            "iss": {"essential": True, "value": self._issuer_of(addresses)},
            "aud": {"essential": True, "value": self._client_id},
            "nonce": {"essential": True, "value": nonce},
        }
        try:
            token = jwt.decode(
                str(answer.get("id_token") or ""),
                KeySet.import_key_set(cast(Any, keys)),
                ALGORITHMS,
            )
            claims = CodeIDToken(
                token.claims, token.header, wanted, {"client_id": self._client_id, "nonce": nonce}
            )
            claims.validate(leeway=LEEWAY)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise SignInRefused(f"The provider's token cannot be used: {error}.") from error
        return dict(token.claims)

    def _issuer_of(self, addresses: Json) -> str:
        # OpenID Connect Discovery 1.0, section 4.3: it must be the address that was asked.
        found = str(addresses.get("issuer") or "")
        if found.rstrip("/") != self._issuer:
            raise ProviderFailed(f"The provider calls itself {found[:200]!r}.")
        return found

    def _client(self) -> httpx2.BasicAuth:
        return httpx2.BasicAuth(self._client_id, self._secret)

    async def _addresses(self) -> Json:
        found = await _request("GET", self._issuer + DISCOVERY)
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not isinstance(found.get(name), str):
                raise ProviderFailed(f"The provider names no {name}.")
        return found


async def _request(
    method: str, url: str, form: Json | None = None, auth: httpx2.BasicAuth | None = None
) -> Json:
    try:
        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            answer = await client.request(method, url, data=form, auth=auth)
        found = answer.json()
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise ProviderFailed(f"The provider does not answer: {error}.") from error
    if answer.is_success and isinstance(found, dict):
        return found
    reason = found.get("error", "") if isinstance(found, dict) else ""
    raise SignInRefused(f"The provider refused ({answer.status_code}): {str(reason)[:100]}.")
