"""The controllers of OSWorld's client."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.interop.clients import ROOT, Clients
from tests.interop.conftest import SUITE_RUN
from tests.system.services import DESKHAND, Service, service
from tests.system.test_forward import forwarding

PATH = "/api/v0/desktop/as/osworld"
ROUTES, EVALUATORS = 22, 5


@pytest.fixture(scope="module")
def osworld(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A desktop that speaks OSWorld's protocol, and CDP."""
    errors = tmp_path_factory.mktemp("osworld") / "errors.log"
    with service(errors, "desktop", "--speak", "osworld,cdp") as found:
        yield found


@pytest.mark.interop_client(
    "desktop-env",
    how="`deskhand forward osworld`, then `PythonController('127.0.0.1', 5000)`; or HTTP Basic",
    tested="all actions, scripts, files, windows and a recording, by both controllers",
)
@pytest.mark.slow("waits between its requests")
@pytest.mark.parametrize("way", ["forward", "basic"])
def test_its_controllers_work_unchanged(interop: Clients, osworld: Service, way: str) -> None:
    if way == "forward":
        with forwarding(osworld, "osworld", "--port", "0") as (_, ready):
            printed = interop.run("osworld_client.py", *ready["listen"].split(":")).stdout
    else:
        address = urlsplit(osworld.url)
        host, port = f"x:{osworld.token}@{address.hostname}", f"{address.port}{PATH}"
        printed = interop.run("osworld_client.py", host, port).stdout
    assert printed.endswith("done"), printed


@pytest.mark.interop_client(
    "desktop-env",
    how="`deskhand forward cdp` as its Chromium port",
    tested="tabs of a task are opened in the desktop's browser",
)
@pytest.mark.slow("starts the browser of a desktop")
def test_its_tabs_are_opened_in_the_desktops_browser(interop: Clients, osworld: Service) -> None:
    with (
        forwarding(osworld, "osworld", "--port", "0") as (_, server),
        forwarding(osworld, "cdp", "--port", "0") as (_, browser),
    ):
        chromium = browser["listen"].rpartition(":")[2]
        words = ("chrome", *server["listen"].split(":"), chromium)
        assert interop.run("osworld_client.py", *words).stdout.endswith("done")
        pages = osworld.http.get("/api/v0/desktop/as/cdp/json/list").json()
    assert "Two" in [page["title"] for page in pages]


@pytest.mark.interop_client(
    "desktop-env",
    how="`examples/osworld_provider.py`",
    tested="a provider of DesktopEnv, and one task on a reverted desktop",
)
@pytest.mark.slow("starts two desktops")
def test_a_task_succeeds_on_a_desktop_of_the_provider(interop: Clients) -> None:
    path = f"{Path(DESKHAND).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    example = str(ROOT / "examples" / "osworld_provider.py")
    printed = interop.run("osworld_client.py", "run", example, environment={"PATH": path}).stdout
    assert printed.endswith("score 1.0\n"), printed


SUITE = "desktop-env"
whole = pytest.mark.interop_client(
    SUITE, how="`deskhand forward osworld`", tested="its controllers and five evaluators"
)


@whole
@pytest.mark.full
@pytest.mark.slow("starts the browser of a desktop")
def test_its_controllers_use_all_their_routes(
    interop: Clients, osworld: Service, record_property: Callable[[str, object], None]
) -> None:
    with forwarding(osworld, "osworld", "--port", "0") as (_, ready):
        host, port = ready["listen"].split(":")
        printed = interop.run("osworld_client.py", host, port, "browser").stdout
    assert printed.endswith(f"{ROUTES} routes\ndone"), printed
    run = {"suite": SUITE, "version": interop.versions()[SUITE], "entries": ROUTES}
    what = "the routes that its two controllers use"
    record_property(SUITE_RUN, {**run, "what": what, "result": f"{ROUTES} answered as expected"})


@whole
@pytest.mark.full
@pytest.mark.slow("starts the browser of a desktop")
def test_its_evaluators_judge_tasks(
    interop: Clients, osworld: Service, record_property: Callable[[str, object], None]
) -> None:
    with forwarding(osworld, "osworld", "--port", "0") as (_, ready):
        printed = interop.run("osworld_evaluators.py", *ready["listen"].split(":")).stdout
    assert printed.count("\njudged: ") == EVALUATORS, printed
    run = {"suite": SUITE, "version": interop.versions()[SUITE], "entries": EVALUATORS}
    what = "evaluators that need no cloud: getter and metric, before and after a task"
    record_property(SUITE_RUN, {**run, "what": what, "result": "0.0 before, 1.0 after"})
