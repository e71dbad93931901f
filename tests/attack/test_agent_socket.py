"""Programs of an agent ask the service for more than their chat may have."""

import json
import shlex
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.system.services import Json, Service, service

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

OWN, OTHER = str(uuid4()), str(uuid4())
SERVER = "https://git.example"
PASSWORD = "correct horse battery"
REPOSITORY = "git init -q -b main r; cd r; git remote add origin https://git.example/r"


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("attack") / "errors.log", "desktop") as found:
        yield found


def run(desktop: Service, command: str, chat: str = OWN, **more: object) -> Json:
    """Run a command of a chat and wait for its end."""
    headers = {"Deskhand-Chat-Id": chat}
    body = {"command": command, **more}
    answer = desktop.http.post("/api/v0/processes/start", json=body, headers=headers)
    path = f"/api/v0/processes/{answer.json()['id']}/output"
    ended = desktop.http.get(path, params={"wait_for": "exit"}, headers=headers).json()
    assert not ended["running"], ended
    found: Json = ended
    return found


ENVIRONMENT = pytest.mark.xfail(strict=True, reason="the chat of a question is in its environment")


@ENVIRONMENT
def test_a_command_does_not_ask_for_credentials_as_another_chat(desktop: Service) -> None:
    desktop.http.put(
        "/api/v0/git/credentials",
        json={"url": SERVER, "username": "me", "password": PASSWORD},
    ).raise_for_status()
    prompt = shlex.quote(f"Password for '{SERVER.replace('//', '//me@')}': ")
    forged = f"export DESKHAND_CHAT_ID={OTHER} CODER_CHAT_ID={OTHER}"
    ended = run(desktop, f'{REPOSITORY}; {forged}; "$GIT_ASKPASS" {prompt}')
    # The control: it does answer, with the credential that git gets.
    assert ended["exit_code"] == 0
    marked = desktop.get("/api/v0/git/refs")
    assert OWN in json.dumps(marked)
    assert OTHER not in json.dumps(marked)
