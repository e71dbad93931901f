"""Routes of the named profiles of browsers: list and remove them."""

from collections.abc import Sequence
from typing import Protocol

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from deskhand.desktop.profiles.profile_name import PROFILE_NAME
from deskhand.tools.fleet.errors import UnknownProfile
from deskhand.vncbridge.http.lazy_routes import LazyRouter


class ProfileView(Protocol):
    """A profile as it is listed."""

    @property
    def name(self) -> str:
        """Name, as a start of a desktop has it."""

    @property
    def bytes(self) -> int:
        """Size on the disk."""

    @property
    def used_at(self) -> float:
        """Unix time at which a desktop got it last."""

    @property
    def holder(self) -> str:
        """Id of the desktop that has it; empty if none has."""


class Profiles(Protocol):
    """Port to the profiles; ``deskhand.tools.fleet.fleet_profiles.FleetProfiles`` implements it."""

    async def all(self) -> Sequence[ProfileView]:
        """Return the profiles, in the order of their names."""

    async def remove(self, name: str) -> None:
        """Remove a profile; raise ``UnknownProfile`` or ``ProfileTaken``."""


def router(profiles: Profiles) -> APIRouter:
    """Return the routes under ``/api/v0/profiles``; only administrators reach them."""
    routes = LazyRouter(prefix="/api/v0/profiles", tags=["desktops"])

    @routes.get("")
    async def listing() -> JSONResponse:
        """List the profiles of browsers that are kept, each with the desktop that has it now."""
        found = [
            {
                "name": one.name,
                "bytes": one.bytes,
                "used_at": one.used_at,
                "desktop_id": one.holder or None,
            }
            for one in await profiles.all()
        ]
        return JSONResponse({"profiles": found})

    @routes.delete("/{name}", status_code=204)
    async def remove(name: str) -> Response:
        """Remove a profile with its sign-ins; one that a desktop has is refused (409)."""
        if not PROFILE_NAME.fullmatch(name):
            raise UnknownProfile(name)
        await profiles.remove(name)
        return Response(status_code=204)

    return routes
