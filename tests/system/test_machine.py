"""Commands and files of a real desktop service, with the rights that it gives them."""

import json
from pathlib import Path
from uuid import uuid4

from websockets.sync.client import connect

from tests.system.services import PATIENCE, Json, Service

API = "/api/v0"


def ran(desktop: Service, command: str, **more: object) -> Json:
    started = desktop.post(f"{API}/processes/start", {"command": command, **more})
    return desktop.get(f"{API}/processes/{started['id']}/output?wait=true")


def test_commands_and_files_work_together(desktop: Service) -> None:
    ended = ran(desktop, "mkdir -p project/sub && cd project && git init -q . && pwd")
    folder = ended["output"].strip()
    assert ran(desktop, f"cat {ended['output_path']}")["output"] == ended["output"]
    assert json.loads(ran(desktop, f"cat {ended['exit_path']}")["output"])["exit_code"] == 0

    written = desktop.http.post(
        f"{API}/write-file", params={"path": f"{folder}/sub/poem"}, content="roses\nare needles\n"
    )
    assert written.status_code == 200
    found = desktop.post(f"{API}/search", {"path": folder, "pattern": "needle"})
    assert [match["path"] for match in found["matches"]] == [f"{folder}/sub/poem"]

    terminal = ran(desktop, "stty size", pty=True, rows=7, columns=33)
    assert terminal["output"].strip() == "7 33"

    started = desktop.post(f"{API}/processes/start", {"command": "echo streamed"})
    stream = desktop.http.get(f"{API}/processes/{started['id']}/stream").text
    assert '"output":"streamed\\n"' in stream
    assert "event: exit" in stream

    assert_watched(desktop, folder)


def assert_watched(desktop: Service, folder: str) -> None:
    chat = {"Deskhand-Chat-Id": str(uuid4())}
    token = {"Authorization": f"Bearer {desktop.token}"}
    address = desktop.url.replace("http://", "ws://")
    url = f"{address}{API}/git/watch?chat_id={chat['Deskhand-Chat-Id']}"
    with connect(url, additional_headers=token, open_timeout=PATIENCE) as socket:
        path = {"path": str(Path(folder) / "note")}
        desktop.http.post(f"{API}/write-file", params=path, content="noted\n", headers=chat)
        (repository,) = json.loads(socket.recv(PATIENCE))["repositories"]
    assert repository["repo_root"] == folder
    assert "+noted" in repository["unified_diff"]
