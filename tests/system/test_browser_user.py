"""The browser of root's desktops has a user of its own: files that it and the agent exchange."""

import os
from pathlib import Path

import pytest

from tests.system.event_stream import event_stream, next_of
from tests.system.services import Service, until

pytestmark = [
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

DESKTOP = "/api/v0/desktop"
SAVING = b"""<title>saving</title><a download=hello.txt href="data:text/plain,hello">save</a>
<script>document.querySelector("a").click()</script>"""


def output(desktop: Service, command: str) -> str:
    started = desktop.post("/api/v0/processes/start", {"command": f"({command}) 2>&1"})
    found = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")["output"]
    return str(found).strip()


def written(desktop: Service, name: str, content: bytes) -> str:
    """Have the agent write a file into its home; return the path."""
    path = f"{output(desktop, 'echo $HOME')}/{name}"
    desktop.http.post(
        "/api/v0/write-file", params={"path": path}, content=content
    ).raise_for_status()
    return path


def titles(desktop: Service) -> str:
    return " ".join(str(one["title"]) for one in desktop.get(f"{DESKTOP}/windows")["windows"])


def test_the_agent_reads_changes_and_deletes_what_the_browser_saved(desktop: Service) -> None:
    page = written(desktop, "saving.html", SAVING)
    with event_stream(desktop) as events:
        desktop.post(f"{DESKTOP}/open", {"path": page})
        found = next_of(events, "download_finished")
    assert (found["name"], found["size"]) == ("hello.txt", 5)
    path = found["path"]
    owner, group = output(desktop, f"stat -c '%U %G' {path}").split()
    assert (owner, group) == (f"{group}-b", output(desktop, "id -gn"))
    assert desktop.http.get("/api/v0/read-file", params={"path": path}).text == "hello"
    assert output(desktop, f"printf ' you' >> {path}; cat {path}") == "hello you"
    desktop.http.post(
        "/api/v0/write-file", params={"path": path}, content=b"replaced"
    ).raise_for_status()
    assert output(desktop, f"cat {path}; rm {path}") == "replaced"
    assert desktop.http.get("/api/v0/read-file", params={"path": path}).status_code == 404


def test_the_browser_shows_files_that_are_open_to_the_group_of_the_agent(desktop: Service) -> None:
    place = written(desktop, "open.html", b"<title>open page</title>")
    closed = written(desktop, "closed.html", b"<title>closed page</title>")
    temporary = output(
        desktop, "echo '<title>temporary page</title>' > /tmp/t.html; echo /tmp/t.html"
    )
    output(desktop, f"chmod 600 {closed}; mkdir -p ~/keys; chmod 700 ~/keys; cp {place} ~/keys/")
    for path, title in ((place, "open page"), (temporary, "temporary page")):
        desktop.post(f"{DESKTOP}/open", {"path": path})
        until(lambda title=title: title in titles(desktop), title)  # type: ignore[misc]
    for path in (closed, f"{Path(place).parent}/keys/open.html"):
        desktop.post(f"{DESKTOP}/open", {"path": path})
        # The page of an error has the address as its title.
        until(lambda path=path: path in titles(desktop), path)  # type: ignore[misc]
