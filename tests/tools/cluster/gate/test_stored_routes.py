"""What is stored on a node, served and removed by its gate."""

from pathlib import Path

from tests.tools.cluster.gate.gates import LEFT, C, OpenGate, played

PLACE = f"/remains/{LEFT.desktop_id}/{LEFT.recording_id}"


def test_recordings_of_dead_desktops_are_listed_served_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "remains" / LEFT.desktop_id
    folder.mkdir(parents=True)
    (folder / "1.mp4").write_bytes(b"0123456789")

    async def scenario(gate: OpenGate) -> None:
        (listed,) = (await gate.ask("GET", "/remains")).json()["recordings"]
        assert listed == {
            "desktop_id": LEFT.desktop_id,
            "recording_id": LEFT.recording_id,
            "files": list(LEFT.files),
        }
        whole = await gate.ask("GET", f"{PLACE}/1.mp4")
        assert (whole.status_code, whole.content) == (200, b"0123456789")
        part = await gate.ask("GET", f"{PLACE}/1.mp4", headers={"Range": "bytes=4-"})
        assert (part.status_code, part.content) == (206, b"456789")
        missing = await gate.ask("GET", f"{PLACE}/2.mp4")
        assert (missing.status_code, missing.json()["code"]) == (404, "unknown_file")
        gate.remains.lives = True
        assert (await gate.ask("GET", "/remains")).json()["ending"] == [C]
        answer = await gate.ask("DELETE", PLACE)
        assert (answer.status_code, answer.json()["code"]) == (409, "not_removed")
        gate.remains.lives = False
        assert (await gate.ask("DELETE", PLACE)).status_code == 204
        assert (await gate.ask("GET", "/remains")).json() == {"recordings": [], "ending": []}

    played(tmp_path, scenario)


def test_working_directories_are_removed_unless_they_are_used(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        assert (await gate.ask("DELETE", "/workdirs/chat-1")).status_code == 204
        assert gate.fleet.forgotten == ["chat-1"]
        used = await gate.ask("DELETE", "/workdirs/used")
        assert (used.status_code, used.json()["code"]) == (409, "refused")

    played(tmp_path, scenario)


def test_profiles_are_listed_and_removed(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        listed = (await gate.ask("GET", "/profiles")).json()["profiles"]
        assert [one["name"] for one in listed] == ["shop", "taken"]
        assert (await gate.ask("DELETE", "/profiles/shop")).status_code == 204
        for name, status, code in (
            ("shop", 404, "unknown_profile"),
            ("taken", 409, "profile_taken"),
        ):
            answer = await gate.ask("DELETE", f"/profiles/{name}")
            assert (answer.status_code, answer.json()["code"]) == (status, code)

    played(tmp_path, scenario)
