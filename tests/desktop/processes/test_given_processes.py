"""The given cases of the process API, against one real service."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from deskhand.desktop.programs import process_tree as groups
from tests.desktop.processes.service import LIMIT, Service, running
from tests.given import CASES, assert_contains, assert_subset, expected, filled, named

Json = dict[str, Any]
CALLS = UUID("c5773f4c-0b3f-57bc-9147-36daf7921a1b")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as service:
        yield service


class Scene:
    """One case being played: its chats, its folder, and the processes it named."""

    def __init__(self, service: Service, tmp: Path, default_chat: str | None) -> None:
        self.service = service
        self.mark = f"DESKHAND_CASE={uuid4()}"
        self.chats = {name: str(uuid4()) for name in "ABC"}
        self.default_chat = default_chat
        self.log = tmp / "log"
        self.ids: dict[str, str] = {}
        self.places = {
            "tmp": str(tmp),
            "home": str(service.home),
            "chatA": self.chats["A"],
            "log": str(self.log),
            "uuid5(A,1,call)": self.made_by({"chat": "A", "message_id": 1, "call_id": "call"}),
        }

    def headers(self, step: Json) -> dict[str, str]:
        if "headers" in step:
            return dict(step["headers"])
        call = step.get("toolcall")
        if call:
            named = {
                "Coder-Chat-Id": self.chats.get(call["chat"]),
                "Coder-Tool-Call-Message-Id": call.get("message_id"),
                "Coder-Tool-Call-Id": call.get("call_id"),
                "Coder-Tool-Call-Age-Ms": call.get("age_ms"),
            }
            return {name: str(value) for name, value in named.items() if value is not None}
        chat = step.get("chat", self.default_chat)
        return {"Deskhand-Chat-Id": self.chats[chat]} if chat else {}

    def made_by(self, call: Json) -> str:
        """Return the id of the process that a tool call starts, as the reference makes it."""
        number = int(call.get("message_id", 0)).to_bytes(8, "big")
        name = UUID(self.chats[call["chat"]]).bytes + number + call.get("call_id", "").encode()
        digest = hashlib.sha1(CALLS.bytes + name, usedforsecurity=False).digest()
        return str(UUID(bytes=digest[:16], version=5))

    def start(self, body: Json, step: Json) -> httpx2.Response:
        name, _, value = self.mark.partition("=")
        body = filled(body, self.places)
        body = body | {"env": body.get("env", {}) | {name: value}}
        return self.post("/api/v0/processes/start", step, json=body)

    def post(self, path: str, step: Json, **options: Any) -> httpx2.Response:
        if "raw_body" in step:
            options = {"content": step["raw_body"]}
        return self.service.request("POST", path, headers=self.headers(step), **options)

    def play(self, step: Json) -> httpx2.Response:
        match step["op"]:
            case "start":
                return self.start(step.get("body", {}), step)
            case "list":
                query = {"limit": "200"}
                return self.service.request(
                    "GET", "/api/v0/processes/list", headers=self.headers(step), params=query
                )
            case "output":
                return self.output(step["id"], step)
            case "signal":
                path = f"/api/v0/processes/{self.id(step['id'])}/signal"
                return self.post(path, step, json={"signal": step.get("signal")})
            case "cancel":
                process_id = filled(step.get("path_id"), self.places) or self.made_by(
                    step["toolcall"]
                )
                return self.post(f"/api/v0/processes/{process_id}/cancel", step)
            case other:
                raise AssertionError(other)

    def output(self, name: str, step: Json) -> httpx2.Response:
        query = {"wait": "true"} if step.get("wait") else {}
        return self.service.request(
            "GET",
            f"/api/v0/processes/{self.id(name)}/output",
            headers=self.headers(step),
            params=query,
        )

    def id(self, name: str) -> str:
        return self.ids.get(name, name)

    def ended(self, process_id: str, step: Json) -> Json:
        answer = self.output(process_id, step | {"wait": True}).json()
        assert answer["running"] is False
        return dict(answer)

    def run(self, item: Json) -> str:
        step: Json = {key: item[key] for key in ("chat", "toolcall") if key in item}
        body: Json = {key: item[key] for key in ("command", "background") if key in item}
        process_id = str(self.start(body, step).json()["id"])
        self.ids[item.get("as_", "")] = process_id
        if "wait_output" in item:
            query = {"wait_for": "output", "cursor": "0"}
            path = f"/api/v0/processes/{process_id}/output"
            answer = self.service.request(
                "GET", path, headers=self.headers(step), params=query
            ).json()
            assert item["wait_output"] in answer["output"]
        return process_id

    def runs(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def gone(self) -> bool:
        family = groups.Family(markers=(self.mark.encode(),))
        return groups.wait_gone(family, time.monotonic() + LIMIT, time.monotonic)

    def clear(self) -> None:
        groups.end(groups.Family(markers=(self.mark.encode(),)), 0.0, time.monotonic)


@pytest.fixture
def scene_of(service: Service, tmp_path: Path) -> Iterator[Callable[[str], Scene]]:
    scenes: list[Scene] = []

    def make(name: str) -> Scene:
        setup = CASES[name]["setup"]
        scene = Scene(service, tmp_path, setup.get("chat"))
        scenes.append(scene)
        service.command_environment.extra = dict(setup.get("agent_env", {}))
        if "agent_dir" in setup:
            service.command_environment.directory = Path(filled(setup["agent_dir"], scene.places))
        if "home_override" in setup:
            home = Path(filled(setup["home_override"], scene.places))
            home.mkdir()
            service.command_environment.extra["HOME"] = str(home)
        for item in setup.get("run_to_exit", []):
            step = {key: item[key] for key in ("chat", "toolcall") if key in item}
            scene.ended(scene.run(item), step)
        for item in setup.get("run", []):
            scene.run(item)
        if "first" in setup:
            first = scene.play(setup["first"])
            if setup["first"]["op"] == "start":
                scene.ended(first.json()["id"], setup["first"])
        service.clock.ahead += setup.get("advance_clock_s", 0)
        return scene

    yield make
    for scene in scenes:
        scene.clear()
    service.command_environment.extra = {}
    service.command_environment.directory = None


def check(answer: httpx2.Response, expect: Json, scene: Scene, step: Json) -> None:
    body = answer.json()
    assert answer.status_code == expect.get("status", 200), body
    assert_subset(body, _with_passing_time(filled(expect.get("body", {}), scene.places)))
    for name in expect.get("absent", []):
        assert name not in body
    for name in expect.get("body_nonempty", []):
        assert body[name]
    assert_contains(body.get("message", ""), expect.get("message_contains", []))
    assert_contains(body.get("detail", ""), expect.get("detail_contains", []))
    assert_contains(body.get("output", ""), expect.get("output_contains", []))
    if "detail_nonempty" in expect:
        assert body["detail"]
    if "code" in expect:
        assert body["code"] == expect["code"]
    if "after_exit" in expect:
        _check_exit(scene.ended(body["id"], step), filled(expect["after_exit"], scene.places))
    if "listed" in expect:
        listed = scene.play({"op": "list"}).json()["processes"]
        mine = next(entry for entry in listed if entry["id"] == body["id"])
        assert_subset(mine, filled(expect["listed"], scene.places))
    if "eventually" in expect:
        process_id = expect["eventually"].get("id", "p")
        assert scene.output(process_id, step | {"wait": True}).json()["running"] is False
    if "no_process_left_matching" in expect:
        assert scene.gone()
    _check_list(body, expect, scene)


def _check_exit(answer: Json, wanted: Json) -> None:
    if "output_equals" in wanted:
        assert answer["output"] == wanted["output_equals"]
    assert_contains(answer["output"], wanted.get("output_contains", []))
    fields = {key: wanted[key] for key in ("exit_code", "truncated") if key in wanted}
    assert_subset(answer, fields)


def _check_list(body: Json, expect: Json, scene: Scene) -> None:
    names = {process_id: name for name, process_id in scene.ids.items()}
    mine = {names[e["id"]]: e for e in body.get("processes", []) if e["id"] in names}
    if "ids_set" in expect:
        assert set(mine) == set(expect["ids_set"])
    if "ids_in_order" in expect:
        assert list(mine) == expect["ids_in_order"]
    if "count" in expect:
        assert len(mine) == expect["count"]
    for name, fields in expect.get("fields", {}).items():
        assert_subset(mine[name], fields)


def _with_passing_time(body: Json) -> Json:
    return body | ({"age_ms": f">{body['age_ms'] - 1}"} if "age_ms" in body else {})


SIMPLE = (
    *("process.start", "process.list", "process.output", "process.signal", "process.lifecycle"),
    "process.toolcall.v1",
)
OWN_TEST = (
    "process.toolcall.v1/start_negative_age",
    "process.start/after_shutdown",
    "process.start/chat_start_without_workdir_notifies_git_watch_but_adds_no_path",
    "process.start/chat_start_with_workdir_tracks_it_after_exit",
    "process.lifecycle/close_twice_is_ok",
    "process.output/two_concurrent_waiters_both_wake_on_kill",
    "process.toolcall.v1/eight_concurrent_starts_run_once",
    "process.toolcall.v1/cancel_negative_age",
    "process.toolcall.v1/cancel_without_toolcall",
    "process.toolcall.v1/cancel_partial_headers",
    "process.toolcall.v1/cancel_agent_younger",
)


@pytest.mark.parametrize("name", [name for name in named(*SIMPLE) if name not in OWN_TEST])
def test_a_given_case_of_the_process_api(name: str, scene_of: Callable[[str], Scene]) -> None:
    scene = scene_of(name)
    request, expect = CASES[name]["request"], expected(name)
    if isinstance(request, list):
        for step, wanted in zip(request, expect, strict=True):
            check(scene.play(step), wanted, scene, step)
        return
    answer = scene.play(request)
    check(answer, expect, scene, request)
    if "runs" in expect:
        if answer.status_code == 200:
            scene.ended(answer.json()["id"], request)
        assert scene.runs() == expect["runs"]


def test_both_waiters_wake_when_the_process_is_killed(scene_of: Callable[[str], Scene]) -> None:
    name = "process.output/two_concurrent_waiters_both_wake_on_kill"
    scene = scene_of(name)
    steps, expect = CASES[name]["request"], CASES[name]["expect"]
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(scene.play, step) for step in steps[:2]]
        check(scene.play(steps[2]), expect[2], scene, steps[2])
        for answer, step, wanted in zip(waiting, steps, expect, strict=False):
            check(answer.result(LIMIT), wanted, scene, step)


def test_eight_starts_of_one_call_run_it_once(scene_of: Callable[[str], Scene]) -> None:
    name = "process.toolcall.v1/eight_concurrent_starts_run_once"
    scene = scene_of(name)
    step = CASES[name]["request"]["each"]
    with ThreadPoolExecutor(8) as pool:
        starting = [pool.submit(scene.play, step) for _ in range(8)]
        answers = [future.result(LIMIT) for future in starting]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["id"] for answer in answers}) == 1
    scene.ended(answers[0].json()["id"], step)
    assert scene.runs() == CASES[name]["expect"]["runs"]


def test_a_call_of_negative_age_is_refused_and_not_recorded(
    scene_of: Callable[[str], Scene],
) -> None:
    name = "process.toolcall.v1/start_negative_age"
    scene = scene_of(name)
    call: Json = {"chat": "A", "message_id": 1, "call_id": "call"}
    step: Json = {"op": "start", "toolcall": call, "body": {"command": "echo run >> {log}"}}
    refused = step | {"toolcall": call | {"age_ms": -1}}
    assert scene.play(refused).status_code == expected(name)["status"]
    assert scene.play(step).json()["attached"] is False


def test_a_cancel_of_negative_age_is_refused_and_not_recorded(
    scene_of: Callable[[str], Scene],
) -> None:
    scene = scene_of("process.toolcall.v1/cancel_negative_age")
    call: Json = {"chat": "A", "message_id": 1, "call_id": "call"}
    refused = scene.play({"op": "cancel", "toolcall": call | {"age_ms": -1}})
    assert refused.status_code == expected("process.toolcall.v1/cancel_negative_age")["status"]
    begun = scene.play({"op": "start", "toolcall": call, "body": {"command": "true"}})
    assert begun.json()["attached"] is False


def test_a_cancel_of_a_call_older_than_the_service_is_refused() -> None:
    name = "process.toolcall.v1/cancel_agent_younger"
    with running() as service:
        answer = Scene(service, service.home, None).play(CASES[name]["request"])
    expect = expected(name)
    assert (answer.status_code, answer.json()["code"]) == (expect["status"], expect["code"])


PARTIAL: dict[str, Json] = {
    "process.toolcall.v1/cancel_without_toolcall": {"chat": "A"},
    "process.toolcall.v1/cancel_partial_headers": {"chat": "A", "message_id": 1},
}


@pytest.mark.parametrize("name", PARTIAL)
def test_a_cancel_that_names_no_call_is_refused_and_not_recorded(
    name: str, scene_of: Callable[[str], Scene]
) -> None:
    scene = scene_of(name)
    call: Json = {"chat": "A", "message_id": 1, "call_id": "call"}
    refused = {"op": "cancel", "toolcall": PARTIAL[name], "path_id": scene.made_by(call)}
    assert scene.play(refused).status_code == expected(name)["status"]
    begun = scene.play({"op": "start", "toolcall": call, "body": {"command": "true"}})
    assert begun.json()["attached"] is False


def test_a_process_that_another_chats_call_started_is_not_taken_over(
    scene_of: Callable[[str], Scene],
) -> None:
    name = "toolcall.table/start_by_other_chat_with_same_process_id"
    scene, call_id = scene_of(name), str(uuid4())
    (first,) = CASES[name]["setup"]["run"]

    def send(path: str, chat: str) -> httpx2.Response:
        headers = {"Coder-Chat-Id": scene.chats[chat], "Coder-Tool-Call-Id": call_id}
        body = {"command": first["command"]}
        return scene.service.request("POST", f"/api/v0/{path}", headers=headers, json=body)

    assert send("processes/start", first["chat"]).json()["attached"] is False
    attached, refused, fenced, killed = expected(name)
    again = send("processes/start", "A")
    assert (again.status_code, again.json()["id"]) == (attached["status"], call_id)
    assert send("processes/start", "B").status_code == refused["status"]
    send(f"tool-calls/{call_id}/cancel", "B")
    assert scene.output(call_id, {"chat": "A"}).json()["running"] is fenced["still_running"]
    ended = send(f"tool-calls/{call_id}/cancel", "A").json()
    assert (not ended["running"], ended["canceled"]) == (killed["killed"], killed["canceled_flag"])


def test_nothing_starts_after_the_close_and_closing_twice_is_fine() -> None:
    name = "process.start/after_shutdown"
    with running() as service:
        service.close_registry()
        service.close_registry()
        scene = Scene(service, service.home, None)
        check(scene.play(CASES[name]["request"]), expected(name), scene, {})


@pytest.mark.parametrize("name", named("chat.headers"))
def test_a_given_case_of_the_chat_headers(name: str, scene_of: Callable[[str], Scene]) -> None:
    scene = scene_of(name)
    request, expect = CASES[name]["request"], expected(name)
    if "op" not in request:
        request = {"op": "list", "headers": request["headers"]}
    answer = scene.play(request)
    assert answer.status_code == expect.get("status", 200)


def test_a_command_without_a_workdir_only_signals_that_something_may_have_changed(
    scene_of: Callable[[str], Scene],
) -> None:
    name = "process.start/chat_start_without_workdir_notifies_git_watch_but_adds_no_path"
    scene = scene_of(name)
    service, chat = scene.service, scene.chats["A"]
    request, expect = CASES[name]["request"], expected(name)
    with service.paths.subscribed(chat) as signalled:
        process_id = scene.play(request).json()["id"]
        scene.ended(process_id, request)
        assert signalled.is_set() == expect["git_watch_signalled"]
    assert service.paths.paths(chat) == expect["tracked_paths"]


def test_a_workdir_is_tracked_for_the_chat_and_those_above_it(
    scene_of: Callable[[str], Scene], tmp_path: Path
) -> None:
    name = "process.start/chat_start_with_workdir_tracks_it_after_exit"
    scene = scene_of(name)
    scene.places["d1"] = str(tmp_path)
    above = [scene.chats[known] for known in CASES[name]["setup"]["ancestors"]]
    headers = {
        "Deskhand-Chat-Id": scene.chats["A"],
        "Deskhand-Ancestor-Chat-Ids": json.dumps(above),
    }
    request = CASES[name]["request"] | {"headers": headers}
    scene.ended(scene.play(request).json()["id"], request)
    for known, paths in filled(expected(name), scene.places)["tracked_paths_for"].items():
        assert scene.service.paths.paths(scene.chats[known]) == paths
