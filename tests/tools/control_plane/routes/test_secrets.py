import asyncio
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.control_plane.routes.secrets import router
from deskhand.tools.secrets.own import OwnSecrets
from deskhand.tools.secrets.store import SecretStore
from tests.tools.control_plane.fakes import control_plane

SECRETS = "/api/v0/secrets"


def test_secrets_come_in_and_only_their_names_come_out(tmp_path: Path) -> None:
    async def scenario() -> None:
        secrets = SecretStore()
        async with control_plane(tmp_path, pages=[router(OwnSecrets(secrets))]).client() as client:
            rules = {"kind": "text", "any_field": False, "without_execute": False, "state": "ready"}
            unlimited = {"chats": None, "domains": None, "anywhere": True, **rules}
            first = {"value": "correct horse", "anywhere": True}
            put = await client.put(f"{SECRETS}/mail", json=first)
            assert (put.status_code, put.json()) == (200, {"name": "mail", **unlimited})
            given = {"chats": ["a", "b"], "domains": ["bank.example", "localhost"]}
            some = {"value": "battery staple", **given, "without_execute": True, "any_field": True}
            put = await client.put(f"{SECRETS}/bank", json=some)
            rules = {"anywhere": False, "without_execute": True, "state": "ready"}
            rules |= {"kind": "text", "any_field": True}
            assert put.json() == {"name": "bank", **given, **rules}
            listed = await client.get(SECRETS)
            assert [one["name"] for one in listed.json()["secrets"]] == ["bank", "mail"]
            assert "horse" not in listed.text + put.text
            assert secrets.given(["anybody"])[0].value == "correct horse"
            some = {"value": "new staple"}
            assert (await client.put(f"{SECRETS}/bank", json=some)).json() == put.json()
            assert next(one.value for one in secrets.given(["a"])) == "new staple"
            rotated = {"value": "another horse", "domains": ["mail.example"]}
            assert (await client.put(f"{SECRETS}/mail", json=rotated)).json()["anywhere"] is False
            assert secrets.given(["anybody"])[0].value == "another horse"
            address = "otpauth://totp/mail?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
            codes = {"value": address, "kind": "totp", "domains": ["mail.example"]}
            put = await client.put(f"{SECRETS}/code", json=codes)
            assert (put.status_code, put.json()["kind"]) == (200, "totp")
            assert "GEZD" not in put.text + (await client.get(SECRETS)).text
            assert (await client.delete(f"{SECRETS}/mail")).status_code == 204
            gone = await client.delete(f"{SECRETS}/mail")
            assert (gone.status_code, gone.json()["message"]) == (404, "Secret not found.")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("mail", {}, "value is required."),
        ("mail", {"value": 7}, "value must be a text."),
        ("mail", {"value": "correct horse"}, "This secret cannot be kept."),
        ("mail", {"value": "horse", "anywhere": True}, "This secret cannot be kept."),
        ("mail", {"value": "correct horse", "anywhere": 1}, "anywhere must be true or false."),
        ("mail", {"value": "abc", "domains": ["a"]}, "This secret cannot be kept."),
        ("a b", {"value": "correct horse", "anywhere": True}, "This secret cannot be kept."),
        ("mail", {"value": "correct horse", "chats": "a"}, "chats must be a list of chats' ids."),
        (
            "mail",
            {"value": "correct horse", "chats": ["a"] * 1001},
            "chats has 1001 entries of 1000.",
        ),
        ("mail", {"value": "correct horse", "domains": []}, "This secret cannot be kept."),
        ("mail", {"value": "correct horse", "domains": ["a/b"]}, "This secret cannot be kept."),
        ("mail", {"value": "correct horse", "domains": "a"}, "domains must be a list of domains."),
        (
            "mail",
            {"value": "correct horse", "domains": ["a"] * 17},
            "domains has 17 entries of 16.",
        ),
        ("mail", {"value": "correct horse", "domain": "a"}, "Unknown field: domain."),
        (
            "mail",
            {"value": "correct horse", "domains": ["a"], "kind": "hotp"},
            "kind must be text or totp.",
        ),
        (
            "mail",
            {"value": "correct horse", "domains": ["a"], "kind": "totp"},
            "This secret cannot be kept.",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused_without_its_value(
    tmp_path: Path, name: str, body: dict[str, Any], message: str
) -> None:
    async def scenario() -> None:
        secrets = SecretStore()
        async with control_plane(tmp_path, pages=[router(OwnSecrets(secrets))]).client() as client:
            refused = await client.put(f"{SECRETS}/{name}", json=body)
            assert (refused.status_code, refused.json()["message"]) == (400, message)
            assert "horse" not in refused.text
            assert secrets.listed() == []

    asyncio.run(scenario())
