"""Programs that listen to widgets over AT-SPI, as the agent and as the service's user."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any, Self

from deskhand.desktop.isolation.bus_config import READER
from tests.attack.attackers import output
from tests.attack.test_imitated_page import library
from tests.system.services import PATIENCE, Service, until

SPY = Path(__file__).parents[1] / "data" / "widget_spy.py"
TREE = "/api/v0/desktop/accessibility"


class WidgetSpies:
    """The programs of a spy on a desktop."""

    def __init__(self, desktop: Service) -> None:
        self.desktop = desktop
        desktop.get(TREE)
        # All users of the desktop may read this folder.
        self.folder = Path(output(desktop, "dirname $HOME")) / "share"
        for name, content in (("jeepney.zip", library()), (SPY.name, SPY.read_bytes())):
            (self.folder / name).write_bytes(content)
            (self.folder / name).chmod(0o644)
        self._session = output(desktop, "echo $DBUS_SESSION_BUS_ADDRESS")
        self._uid = Path(self._session.removeprefix("unix:path=")).stat().st_uid
        """Of the service's user."""

    def words(self, *mode: str) -> list[str]:
        program, library_ = (str(self.folder / name) for name in (SPY.name, "jeepney.zip"))
        return ["/usr/bin/python3", program, library_, *mode]

    def of_agent(self, *mode: str) -> Any:
        """Run the spy as a command of the agent, and return what it found."""
        errors = output(self.desktop, f"{shlex.join(self.words(*mode))} > ~/found")
        assert errors == ""
        path = {"path": output(self.desktop, "echo ~/found")}
        return self.desktop.http.get("/api/v0/read-file", params=path).json()

    def of_service(self, *mode: str) -> Any:
        """Run the spy as the service's user, which may listen and read."""
        with self.process(*mode) as found:
            return json.loads(found.communicate()[0])

    def process(self, *mode: str) -> "subprocess.Popen[str]":
        """Start the spy as the service's user."""
        variables = {"DBUS_SESSION_BUS_ADDRESS": self._session, "READER": READER}
        return subprocess.Popen(
            self.words(*mode), env=variables, user=self._uid, stdout=subprocess.PIPE, text=True
        )


class Listeners:
    """A listener of each user, until `heard`."""

    def __init__(self, spies: WidgetSpies) -> None:
        self._spies = spies
        self._end = spies.folder / f"end-{os.urandom(4).hex()}"
        mode = ("listen", str(self._end))
        body = {"command": shlex.join(spies.words(*mode)), "background": True}
        started = spies.desktop.post("/api/v0/processes/start", body)["id"]
        self._output = f"/api/v0/processes/{started}/output"
        until(lambda: "ready" in spies.desktop.get(self._output)["output"], "the listener")
        self._allowed = spies.process(*mode)
        assert self._allowed.stdout is not None
        assert self._allowed.stdout.readline() == "ready\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._allowed as allowed:
            allowed.kill()

    def heard(self) -> tuple[list[str], list[str]]:
        """Return the texts that the agent's listener has heard, and those of the service's user."""
        self._end.touch()
        of_service = json.loads(self._allowed.communicate(timeout=3 * PATIENCE)[0])
        answer = self._spies.desktop.http.get(f"{self._output}?wait_for=exit", timeout=3 * PATIENCE)
        return json.loads(answer.json()["output"].splitlines()[-1]), of_service
