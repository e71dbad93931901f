import asyncio
import os
from pathlib import Path

from deskhand.desktop.profiles import profiles
from deskhand.desktop.profiles.profile_folder import ProfileFolder
from deskhand.tools.control_plane.routes.profiles import router
from deskhand.tools.fleet.fleet_profiles import FleetProfiles
from deskhand.tools.fleet.launcher_client import inner_launcher
from tests.tools.control_plane.fakes import control_plane
from tests.tools.fleet.launchers import configuration

PROFILES = "/api/v0/profiles"


def test_profiles_are_listed_and_removed(tmp_path: Path) -> None:
    async def scenario() -> None:
        folder = ProfileFolder(tmp_path / "profiles")
        os.close(profiles.claim(folder.of("work"), Path("aaaaaaaa"), None, mounted=True))
        held = profiles.claim(folder.of("shop"), Path("0123abcd"), None, mounted=True)
        own = FleetProfiles(inner_launcher(configuration(tmp_path), {}), tuple)
        async with control_plane(tmp_path, pages=[router(own)]).client() as client:
            listed = (await client.get(PROFILES)).json()["profiles"]
            assert [(one["name"], one["desktop_id"]) for one in listed] == [
                ("shop", "0123abcd"),
                ("work", None),
            ]
            assert {type(one["bytes"]) for one in listed} == {int}
            assert (await client.delete(f"{PROFILES}/work")).status_code == 204
            for name in ("work", "Not a name"):
                gone = await client.delete(f"{PROFILES}/{name}")
                assert (gone.status_code, gone.json()["message"]) == (404, "Profile not found.")
            taken = await client.delete(f"{PROFILES}/shop")
            assert (taken.status_code, taken.json()["message"]) == (409, "The profile is in use.")
        os.close(held)

    asyncio.run(scenario())


def test_only_administrators_reach_profiles(tmp_path: Path) -> None:
    async def scenario() -> None:
        own = FleetProfiles(inner_launcher(configuration(tmp_path), {}), tuple)
        fixture = control_plane(tmp_path, pages=[router(own)], scopes=("tools",))
        async with fixture.client() as client:
            assert (await client.get(PROFILES)).status_code == 403
            assert (await client.delete(f"{PROFILES}/work")).status_code == 403

    asyncio.run(scenario())
