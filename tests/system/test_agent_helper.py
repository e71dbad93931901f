"""The agent helper of a real desktop: its user, its end and its successor."""

import os
import signal

import psutil
import pytest

from tests.live_trees import names_below
from tests.system.services import Service, service, until

API = "/api/v0"


def helpers(desktop: Service) -> list[psutil.Process]:
    """Return the helpers."""
    names = names_below(desktop.ready["pid"])
    return [process for process, name in names.items() if name == "agent-helper"]


@pytest.mark.x11
def test_a_killed_helper_has_a_successor_and_nothing_is_left_of_both(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with service(tmp_path_factory.mktemp("helper") / "errors.log", "desktop") as desktop:
        started = desktop.post(f"{API}/processes/start", {"command": "pwd; id -u"})
        ended = desktop.get(f"{API}/processes/{started['id']}/output?wait=true")
        folder, user = ended["output"].split()
        (first,) = helpers(desktop)
        assert first.uids().real == int(user)
        if os.geteuid() == 0:
            # A command of the agent sees it in its PID namespace, and may signal it.
            kill = "pkill -KILL -U $(id -u) -x agent-helper"
            started = desktop.post(f"{API}/processes/start", {"command": kill})
            desktop.get(f"{API}/processes/{started['id']}/output?wait=true")
        else:
            os.kill(first.pid, signal.SIGKILL)
        until(lambda: not first.is_running(), "the end of the helper")
        path = {"path": f"{folder}/file"}
        written = desktop.http.post(f"{API}/write-file", params=path, content="x")
        # The end may be observed only when this call is sent already: then it fails, and clearly.
        assert written.status_code in (200, 503), written.text
        if written.status_code == 503:
            assert "ended during this call" in written.text
        again = desktop.http.post(f"{API}/write-file", params=path, content="y")
        assert again.is_success, again.text
        assert desktop.http.get(f"{API}/read-file", params=path).text == "y"
        (second,) = helpers(desktop)
        assert second.pid != first.pid
    until(lambda: not second.is_running(), "the end of the successor")
