"""What a control plane has beside runs: desktops, stored files, tokens and secrets."""

from collections.abc import Sequence
from pathlib import Path

from deskhand.desktop.geometry import SpaceName
from deskhand.desktop.remote import Desktop

from .plane_transport import PlaneTransport
from .values import (
    AccessToken,
    PlaneDesktop,
    RunFile,
    SecretRules,
    access_token,
    plane_desktop,
    run_file,
    secret_rules,
)

# A control plane gives the start of a desktop 60 s.
_START_SECONDS = 90.0


class DesktopCollection:
    """The desktops of one control plane."""

    def __init__(self, transport: PlaneTransport) -> None:
        self._transport = transport

    async def new(
        self,
        name: str = "",
        *,
        template: str = "",
        speak: Sequence[str] | None = None,
        space: SpaceName = "model",
    ) -> Desktop:
        """Start a desktop and return it, open; it ends with its ``async with`` block or `close`.

        ``template`` is the name of a template, and ``speak`` the protocols of other products.
        """
        body = {"name": name or None, "template": template or None}
        wanted = body if speak is None else {**body, "speak": [*speak]}
        started = await self._transport.request(
            "POST", "/desktops", json=wanted, timeout=_START_SECONDS
        )
        return self._opened(str(started["id"]), space, ends=True)

    def get(self, desktop_id: str, *, space: SpaceName = "model") -> Desktop:
        """Return a running desktop, open; it continues when it is closed here."""
        return self._opened(desktop_id, space, ends=False)

    async def list(self) -> tuple[PlaneDesktop, ...]:
        """Return the running desktops, newest first."""
        found = await self._transport.request("GET", "/desktops")
        return tuple(map(plane_desktop, found["desktops"]))

    async def end(self, desktop_id: str) -> None:
        """End a desktop; the runs that work on it are stopped, their recordings stored."""
        await self._transport.request("DELETE", f"/desktops/{desktop_id}")

    def _opened(self, desktop_id: str, space: SpaceName, *, ends: bool) -> Desktop:
        transport = self._transport
        return Desktop.of_control_plane(
            transport.open_client(), transport.address, desktop_id, space=space, ends=ends
        )


class FileCollection:
    """The stored files of one control plane: recordings, pictures, attachments."""

    def __init__(self, transport: PlaneTransport) -> None:
        self._transport = transport

    async def list(self, run_id: str) -> tuple[RunFile, ...]:
        """Return the files of a run."""
        found = await self._transport.request("GET", "/files", params={"chat": run_id})
        return tuple(map(run_file, found["files"]))

    async def read(self, file_id: str) -> bytes:
        """Return the bytes of a file."""
        return await self._transport.content(f"/files/{file_id}")

    async def save(self, file_id: str, path: Path | str) -> Path:
        """Write a file here and return its path."""
        to = Path(path)
        await self._transport.open_client().download(f"/api/v0/files/{file_id}", to)
        return to

    async def delete(self, file_id: str) -> None:
        """Remove a file."""
        await self._transport.request("DELETE", f"/files/{file_id}")


class TokenCollection:
    """The access tokens of one control plane."""

    def __init__(self, transport: PlaneTransport) -> None:
        self._transport = transport

    async def new(self, *scopes: str, name: str = "", seconds: float | None = None) -> AccessToken:
        """Make a token for ``scopes``, such as ``admin`` or ``run:ID:view``, for ``seconds``.

        Its ``secret`` is returned this once.
        """
        body = {"scopes": [*scopes], "name": name, "ttl_s": seconds}
        return access_token(await self._transport.request("POST", "/tokens", json=body))

    async def list(self) -> tuple[AccessToken, ...]:
        """Return the tokens that work."""
        found = await self._transport.request("GET", "/tokens")
        return tuple(map(access_token, found["tokens"]))

    async def delete(self, token_id: str) -> None:
        """End a token and each session that was opened with it."""
        await self._transport.request("DELETE", f"/tokens/{token_id}")


class SecretCollection:
    """The secrets that agents may type and cannot read."""

    def __init__(self, transport: PlaneTransport) -> None:
        self._transport = transport

    async def set(
        self,
        name: str,
        value: str,
        *,
        domains: Sequence[str] | None = None,
        runs: Sequence[str] | None = None,
        anywhere: bool | None = None,
        kind: str | None = None,
        any_field: bool | None = None,
    ) -> SecretRules:
        """Store a secret, or replace its value; rules that are not given stay as they are.

        It is typed only into pages of ``domains``, or with ``anywhere`` into any application, by
        ``runs`` or by all. Into pages of domains it goes by fields of a sign-in, or with
        ``any_field`` by any. Of the ``kind`` "totp", whose value is an ``otpauth://totp/`` address,
        the current one-time code is typed.
        """
        given = {
            "domains": None if domains is None else [*domains],
            "chats": None if runs is None else [*runs],
            "anywhere": anywhere,
            "kind": kind,
            "any_field": any_field,
        }
        rules = {key: rule for key, rule in given.items() if rule is not None}
        path, body = f"/secrets/{name}", {"value": value, **rules}
        return secret_rules(await self._transport.request("PUT", path, json=body))

    async def list(self) -> tuple[SecretRules, ...]:
        """Return the names and rules of all secrets."""
        found = await self._transport.request("GET", "/secrets")
        return tuple(map(secret_rules, found["secrets"]))

    async def delete(self, name: str) -> None:
        """Remove a secret; what was written stays masked."""
        await self._transport.request("DELETE", f"/secrets/{name}")
