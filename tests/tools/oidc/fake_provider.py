"""A small OpenID Connect provider, over HTTP on the loopback interface."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

Json = dict[str, Any]
CLIENT, SECRET = "deskhand", "the secret of the client"


class SmallProvider:
    """Signs everyone in as ``claims`` say; ``changes`` are made to each token."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = ECKey.generate_key("P-256", parameters={"kid": "k1"})
        self.signing = self.key
        self.claims: Json = {"sub": "17", "name": "Ada", "groups": ["engineers"]}
        self.changes: Json = {}
        self.asked: Json = {}

    def sign_in(self, address: str) -> str:
        """Sign a person in at the address where a browser was sent; return where it goes next."""
        asked = {name: one[0] for name, one in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        self.asked = asked
        return f"{asked['redirect_uri']}?code=one&state={asked['state']}"

    def answer(self, path: str, form: Json, authorization: str) -> tuple[int, Json]:
        match path:
            case "/.well-known/openid-configuration":
                return 200, {
                    "issuer": self.url,
                    "authorization_endpoint": f"{self.url}/authorize",
                    "token_endpoint": f"{self.url}/token",
                    "jwks_uri": f"{self.url}/keys",
                }
            case "/keys":
                return 200, {"keys": [self.key.as_dict(private=False)]}
            case "/token":
                return self._token(form, authorization)
        return 404, {}

    def _token(self, form: Json, authorization: str) -> tuple[int, Json]:
        hashed = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()
        client = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if (
            form["code"] != "one"
            or challenge != self.asked["code_challenge"]
            or form["redirect_uri"] != self.asked["redirect_uri"]
            or authorization != f"Basic {client}"
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            **{"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300},
            **{"nonce": self.asked["nonce"], **self.claims, **self.changes},
        }
        token = jwt.encode({"alg": "ES256", "kid": "k1"}, claims, self.signing)
        return 200, {"id_token": token, "access_token": "none", "token_type": "Bearer"}


@contextmanager
def small_provider() -> Iterator[SmallProvider]:
    """Serve a provider while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith("/authorize?"):
                self._answer({})
                return
            self.send_response(303)
            self.send_header("Location", provider.sign_in(self.path))
            self.end_headers()

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            form = parse_qs(self.rfile.read(length).decode())
            self._answer({name: one[0] for name, one in form.items()})

        def _answer(self, form: Json) -> None:
            status, body = provider.answer(self.path, form, self.headers["authorization"] or "")
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = SmallProvider(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
