"""Programs that read the OpenAPI documents of real services."""

import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.interop.clients import Clients
from tests.system.services import Service

WARNING = re.compile(r"^Cannot parse response .*\((.*)\)", re.MULTILINE)


@pytest.mark.interop_client(
    "openapi-python-client",
    how="`openapi-python-client generate --path openapi.json`; the client takes URL and token",
    tested="the documents of both services; a process, a click, a screenshot, a recording",
)
@pytest.mark.slow("generates a client")
@pytest.mark.parametrize("name", ["desktop", "plane"])
def test_a_client_is_generated_with_warnings_for_media_types_at_most(
    interop: Clients, request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    service: Service = request.getfixturevalue(name)
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(service.get("/openapi.json")))
    printed = interop.run(
        *("openapi-python-client", "generate", "--meta", "none", "--path", document),
        *("--output-path", tmp_path / "generated"),
    ).stdout
    headings = re.findall(r"^(?:WARNING|ERROR|Unable|Skipping|.*failed).*", printed, re.MULTILINE)
    reasons = WARNING.findall(printed)
    assert all(heading.startswith("WARNING parsing") for heading in headings), printed
    assert len(reasons) == len(headings), printed
    assert all(reason.startswith("Unsupported content_type") for reason in reasons), printed
    if name == "desktop":
        interop.run("generated_client.py", tmp_path, service.url, service.token)


@pytest.mark.interop_client(
    "schemathesis",
    how="`schemathesis run URL/openapi.json` with the token in a header",
    tested="examples of each operation of a desktop: no failure",
)
@pytest.mark.slow("hundreds of requests")
# Of few examples of an operation all may be invalid by chance.
@pytest.mark.parametrize(
    ("examples", "most_rejected"), [(4, 15), pytest.param(25, 4, marks=pytest.mark.full)]
)
def test_generated_requests_find_no_failure(
    interop: Clients, desktop: Service, tmp_path: Path, examples: int, most_rejected: int
) -> None:
    # A private take-over refuses most others, so that the lease is the last. Searches of the whole
    # disk take long, as do widgets and the delay after a wrong code, so that each has a process.
    lease, slow = "/api/v0/desktop/lease", "(accessibility|accessibility/text|login)$"
    at_once = (
        ("--include-tag", "files", *_left_out()),
        ("--include-path-regex", slow),
        ("--exclude-tag", "files", "--exclude-path", lease, *_left_out(slow)),
    )
    with ThreadPoolExecutor() as threads:
        found = threads.map(partial(_rejected, interop, desktop, tmp_path, examples), at_once)
        rejected = [operation for operations in found for operation in operations]
    rejected += _rejected(interop, desktop, tmp_path, examples, ("--include-path", lease))
    assert desktop.http.delete("/api/v0/desktop/lease").is_success
    assert len(rejected) <= most_rejected, rejected


def _rejected(
    interop: Clients, desktop: Service, folder: Path, examples: int, chosen: tuple[str, ...]
) -> list[str]:
    """Return the operations that rejected all of their examples as invalid."""
    report = folder / f"{uuid.uuid4()}.json"
    interop.run(
        *("schemathesis", "run", f"{desktop.url}/openapi.json", "--phases", "fuzzing"),
        *("-H", f"Authorization: Bearer {desktop.token}", "-n", str(examples), "--seed", "2"),
        *("--checks", "all", "--exclude-checks", ",".join(LEFT_OUT), "--no-shrink"),
        *("--continue-on-failure", "--request-timeout", "120", "--max-response-time", "120"),
        *("--report-json-path", str(report), *chosen),
    )
    summary = json.loads(report.read_text())
    return list(_warned(summary))


def _left_out(*more: str) -> tuple[str, str]:
    # Streams do not end, and a wait takes as long as an example says, up to a minute each. Content
    # is appended as it is written, and no example is a picture. Without root the agent's files,
    # which an example may remove, are the caller's own.
    names = "stream|watch|events|wait-for|append-file|find-patch|wallpaper|remove-path"
    return "--exclude-path-regex", "|".join((f"({names})$", *more))


LEFT_OUT = (
    # Schemas of parameters are documentation; the services are more lenient in places.
    "negative_data_rejection",
    "positive_data_acceptance",
)


def _warned(summary: object) -> list[str]:
    if isinstance(summary, dict):
        found = summary.get("validation_mismatch")
        if isinstance(found, list):
            return [str(one) for one in found]
        return [one for inner in summary.values() for one in _warned(inner)]
    if isinstance(summary, list):
        return [one for inner in summary for one in _warned(inner)]
    return []


@pytest.mark.interop_client(
    "prometheus-client",
    how="scrapes URL/metrics with a bearer token",
    tested="Prometheus' own parser reads the metrics of both services",
)
@pytest.mark.parametrize(
    ("name", "metric"),
    [("desktop", "gauge deskhand_display_up"), ("plane", "counter deskhand_tool_calls")],
)
def test_metrics_are_read_by_the_parser_of_prometheus(
    interop: Clients, request: pytest.FixtureRequest, name: str, metric: str
) -> None:
    service: Service = request.getfixturevalue(name)
    if name == "plane":
        service.post("/api/v0/tools/execute", {"command": ""})
    text = service.http.get("/metrics").text
    assert metric in interop.run("scraped_metrics.py", given=text).stdout.splitlines()
