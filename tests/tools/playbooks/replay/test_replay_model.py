import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.agents.providers.errors import ModelUnavailable
from deskhand.tools.agents.providers.port import Model, ModelReply, Prompt, Usage
from deskhand.tools.conversation.conversation import Message, Text, ToolCall, ToolResult
from deskhand.tools.kit.support.spec import HUMAN_IN_CONTROL, MachineRefused
from deskhand.tools.playbooks.form.writing import write_playbook
from deskhand.tools.playbooks.library.library import PlaybookLibrary
from deskhand.tools.playbooks.playbook import (
    Check,
    Parameter,
    Playbook,
    PlaybookStep,
    RegionCheck,
    Start,
    StepWait,
    Target,
)
from deskhand.tools.playbooks.replay.healer import Healer
from deskhand.tools.playbooks.replay.healing import CHOOSE, Part
from deskhand.tools.playbooks.replay.replay_model import ReplayModel
from deskhand.tools.playbooks.replay.request import request_text
from deskhand.tools.playbooks.replay.sight import Located, NotLocated, Screen

Json = dict[str, Any]
SAVE = Target("button", "Save {town}")
PLAYBOOK = Playbook(
    "order",
    (
        PlaybookStep("type", "Name the town", Target("entry", "Town"), text="{town}"),
        PlaybookStep("click", "Save it", SAVE, wait=StepWait("Saved")),
    ),
    (Check("Saved for {town}"),),
    Start("http://a/"),
    {"town": Parameter("Oslo")},
)
ENTRY, BUTTON = (10, 20), (30, 40)
MISSING = NotLocated('button "Save Oslo"', 'button "Store Oslo"')


class Screens:
    """Desktop and search: ``places`` has the answer for each name that is searched for."""

    def __init__(self, **places: Any) -> None:
        self.places = {"Town": Located(ENTRY, "identity"), **places}
        self.searched: list[str] = []
        self.asked: list[Json] = []
        self.unmet: set[str] = set()
        self.private = False
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def for_call(self, _: str) -> "Screens":
        return self

    async def download(self, path: str, to: Path) -> int:
        raise AssertionError(path, to)

    def uploader(self, path: str) -> None:
        raise AssertionError(path)

    async def request(self, method: str, path: str, *, json: Any = None, **_: Any) -> Any:
        if path.endswith("/accessibility/text"):
            return {"text": 'button "Store Oslo" [e1] 3,4'}
        if path.endswith("/screenshot"):
            return bytes(18 * 8 * 3)
        assert path.endswith("/wait-for"), (method, path)
        if self.private:
            raise MachineRefused(409, "A person is in control.", code=HUMAN_IN_CONTROL)
        self.asked.append(json)
        if "changed_region" in json:
            self.now += json["timeout_seconds"]
        unmet = [json["text"]] if json.get("text") in self.unmet else []
        return {"met": not unmet, "unmet": ["text"] if unmet else [], "seen": {"texts": ["Error"]}}

    async def screen(self, _: object) -> Screen:
        return Screen(1280, 720)

    async def identify(self, _: object, point: tuple[int, int]) -> Target | None:
        return Target("button", "Store Oslo") if point == (33, 44) else None

    async def find(self, _: object, target: Target, *__: object) -> Located | NotLocated:
        self.searched.append(target.name)
        found = self.places[target.name]
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        assert isinstance(found, Located | NotLocated)
        return found


def _pixels(data: bytes) -> tuple[int, int, bytes]:
    return 18, 8, data


class Healing:
    """A model that names a widget."""

    def __init__(self, **arguments: str) -> None:
        self.prompts: list[Prompt] = []
        self.arguments = arguments

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        self.prompts.append(prompt)
        if not self.arguments:
            raise ModelUnavailable("no network", 1)
        call = ToolCall("c", CHOOSE.name, dict(self.arguments))
        if "click" in self.arguments:
            call = ToolCall("c", "left_click", {"coordinate": [33, 44]}, "computer")
        return ModelReply((call,), "tool_use", Usage(input_tokens=7))


class Chat:
    """One chat that replays; its calls succeed unless ``results`` has another answer."""

    def __init__(
        self,
        folder: Path,
        screens: Screens,
        model: Model | None = None,
        playbook: Playbook = PLAYBOOK,
    ) -> None:
        self.library = PlaybookLibrary(folder / "playbooks")
        self.library.save(write_playbook(playbook))
        self.screens = screens
        self.pictures: dict[Part, bytes] = {}
        selected = lambda: ("claude-opus-5", model) if model else None  # noqa: E731
        healer = Healer(selected, self.library, self)

        async def machine(_: str) -> Screens:
            return screens

        self.model = ReplayModel(self.library, machine, screens, screens.clock, _pixels, healer)
        request = request_text(playbook, {})
        self.messages: list[Message] = [Message("user", (Text(request),))]

    async def of_step(self, chat_id: str, number: int) -> dict[Part, bytes]:
        assert number == 1
        return self.pictures

    def next(self) -> ModelReply:
        prompt = Prompt("", tuple(self.messages), (), True, "playbook:order", conversation="chat")
        return asyncio.run(self.model.reply(prompt, lambda _: None))

    def play(self, *results: str) -> list[ToolCall]:
        """Perform the next reply; results that begin with ``!`` are errors."""
        reply = self.next()
        self.used = reply.usage
        calls = [one for one in reply.content if isinstance(one, ToolCall)]
        self.messages.append(Message("assistant", reply.content))
        self.messages.append(Message("user", tuple(_results(calls, results))))
        return calls

    def report(self) -> str:
        (call,) = [one for one in self.next().content if isinstance(one, ToolCall)]
        assert call.name == "report", call
        return f"{call.arguments['outcome']}: {call.arguments['summary']}"


def _results(calls: Sequence[ToolCall], texts: Sequence[str]) -> Iterable[ToolResult]:
    for index, call in enumerate(calls):
        text = texts[index] if index < len(texts) else "done"
        yield ToolResult(call.id, (Text(text.removeprefix("!")),), text.startswith("!"))


def _screens(**places: Any) -> Screens:
    return Screens(**{"Save Oslo": Located(BUTTON, "identity"), **places})


def _named(calls: Iterable[ToolCall]) -> list[tuple[str, Json]]:
    return [(call.name, call.arguments) for call in calls]


def test_a_playbook_is_played_step_by_step(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    assert _named(chat.play()) == [
        ("execute", {"command": "xdg-open http://a/", "run_in_background": True})
    ]
    assert _named(chat.play()) == [
        ("left_click", {"coordinate": [10, 20]}),
        ("key", {"text": "ctrl+a"}),
        ("type", {"text": "Oslo"}),
    ]
    assert _named(chat.play()) == [("left_click", {"coordinate": [30, 40]})]
    assert chat.report() == "done: The replay of order performed 2 steps and passed 1 checks."
    assert [one["text"] for one in chat.screens.asked] == ["Saved", "Saved for Oslo"]


def test_every_call_has_an_id_of_its_own(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    calls = [call for _ in range(3) for call in chat.play()]
    assert len({call.id for call in calls}) == 5


def test_a_replay_goes_on_from_its_messages(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    chat.play()
    chat.play()
    again = Chat(tmp_path / "other", _screens())
    again.messages = chat.messages
    assert _named(again.play()) == [("left_click", {"coordinate": [30, 40]})]


def test_a_step_with_an_unknown_effect_is_not_performed_again(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    chat.play()
    chat.play("done", "!Interrupted before it gave a result. It may or may not have taken effect.")
    assert chat.report() == (
        "failed: The replay of order stopped after 0 of 2 steps. Step 1, type (Name the town): it"
        " was interrupted and may or may not have taken effect."
    )


def test_a_call_that_fails_ends_the_replay(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    chat.play('{"exit_code": 4, "output": "no browser"}')
    assert "The start: the command ended with the exit code 4: no browser" in chat.report()


def test_a_target_is_waited_for(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens(Town=[MISSING, Located(ENTRY, "identity")]))
    chat.play()
    assert chat.play()[0].arguments == {"coordinate": [10, 20]}
    assert [sorted(one)[0] for one in chat.screens.asked] == ["changed_region", "quiet_ms"]


def test_a_missing_target_is_reported_after_its_time(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens(Town=MISSING))
    chat.play()
    assert chat.report() == (
        "failed: The replay of order stopped after 0 of 2 steps. Step 1, type (Name the town): the"
        ' target is not on the screen. Searched for: button "Save Oslo". Seen: button "Store Oslo".'
        " No model can be asked to heal the step."
    )
    assert chat.screens.now == 10.0


def test_an_ambiguous_target_is_a_mismatch(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens(Town=replace(MISSING, ambiguous=True)))
    chat.play()
    assert "the target is ambiguous" in chat.report()
    assert chat.screens.now == 3.0


def test_a_target_below_the_screen_is_scrolled_to(tmp_path: Path) -> None:
    below = replace(MISSING, scrollable=(640, 400))
    chat = Chat(tmp_path, _screens(Town=below))
    chat.play()
    ends = ("Nothing of the screen changed.", "Nothing of the screen changed.")
    directions = [chat.play(text)[0].arguments["scroll_direction"] for text in ("30 %", *ends)]
    assert directions == ["down", "down", "up"]
    assert "not on the screen" in chat.report()


def test_a_wait_that_is_not_met_ends_the_replay(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    chat.screens.unmet = {"Saved"}
    for _ in range(3):
        chat.play()
    assert 'The wait after Step 2, click (Save it): not met in time: text. Seen: {"texts"' in (
        chat.report()
    )


def test_a_check_that_fails_is_reported(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    chat.screens.unmet = {"Saved for Oslo"}
    for _ in range(3):
        chat.play()
    assert 'Check 1: not met in time: text. Seen: {"texts": ["Error"]}.' in chat.report()


def test_a_region_that_looks_as_before_passes(tmp_path: Path) -> None:
    for digest, outcome in (("0" * 16, "done: "), ("f" * 16, "failed: ")):
        check = Check(region=RegionCheck((0, 0, 18, 8), digest), timeout_seconds=0)
        playbook = replace(PLAYBOOK, check=(check,), screen=(18, 8))
        chat = Chat(tmp_path / digest, _screens(), playbook=playbook)
        for _ in range(3):
            chat.play()
        assert chat.report().startswith(outcome)


def test_a_step_that_a_person_prevented_is_tried_again_some_times(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    chat.play()
    for _ in range(5):
        assert chat.play("!Not done: Ann used the desktop.")[0].name == "left_click"
    assert "Not done: Ann used the desktop." in chat.report()


def test_a_replay_waits_while_a_person_is_in_private_control(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens(Town=[MISSING, Located(ENTRY, "identity")]))
    chat.play()
    chat.screens.private = True
    assert [call.name for call in chat.play()] == ["wait_for"]
    chat.screens.private = False
    assert chat.play()[0].name == "left_click"


def test_a_playbook_that_is_edited_during_its_replay_ends_it(tmp_path: Path) -> None:
    chat = Chat(tmp_path, _screens())
    chat.play()
    edited = replace(PLAYBOOK, steps=PLAYBOOK.steps[1:])
    chat.library.save(write_playbook(edited), replace=True)
    assert "The playbook was edited after this replay began." in chat.report()
    chat.library.remove("order")
    assert "there is no playbook 'order'" in chat.report()


@pytest.mark.parametrize("arguments", [{"role": "button", "name": "Store Oslo"}, {"click": "it"}])
def test_a_step_is_healed_by_one_request_and_rewritten(
    tmp_path: Path, arguments: dict[str, str]
) -> None:
    places = {"Save Oslo": MISSING, "Store Oslo": Located(BUTTON, "identity")}
    model = Healing(**arguments)
    chat = Chat(tmp_path, _screens(**places), model)
    chat.library.save("# Mine.\n" + chat.library.text("order"), replace=True)
    chat.pictures["target"] = b"PNG"
    chat.play()
    chat.play()
    assert _named(chat.play()) == [("screenshot", {})]
    assert _named(chat.play()) == [("left_click", {"coordinate": [30, 40]})]
    assert chat.used.input_tokens == 7
    assert chat.report().startswith("done: ")
    assert "-   target: {role: button, name: 'Save {town}'}" in chat.report()
    healed = chat.library.load("order").steps[1].target
    wanted = Target("button", "Store {town}", (), "accessibility", BUTTON)
    assert healed == replace(wanted, patch="patches/healed-2.png")
    assert Path(chat.library.folder("order"), healed.patch).read_bytes() == b"PNG"
    assert "# Mine.\n" in chat.library.text("order")
    assert len(model.prompts) == 1
    assert 'button "Store Oslo" [e1]' in str(model.prompts[0].messages)


def test_a_healed_step_may_have_no_picture(tmp_path: Path) -> None:
    places = {"Save Oslo": MISSING, "Store Oslo": Located(BUTTON, "identity")}
    chat = Chat(tmp_path, _screens(**places), Healing(role="button", name="Store Oslo"))
    chat.pictures["target"] = b"PNG"
    for _ in range(4):
        chat.play()
    # The folder of the pictures cannot be made.
    Path(chat.library.folder("order"), "patches").touch()
    assert chat.report().startswith("done: ")
    healed = chat.library.load("order").steps[1].target
    assert healed is not None
    assert (healed.name, healed.patch) == ("Store {town}", "")


def test_a_model_that_cannot_heal_leaves_the_mismatch(tmp_path: Path) -> None:
    counted = count()
    places = {"Save Oslo": MISSING, "Cancel": replace(MISSING, ambiguous=True)}
    for model, problem in (
        (Healing(), "claude-opus-5 could not be asked: no reply from the model"),
        (Healing(near="Town"), "claude-opus-5 found no widget that fits"),
        (Healing(name="Cancel"), "The model chose button"),
    ):
        chat = Chat(tmp_path / str(next(counted)), _screens(**places), model)
        for _ in range(3):
            chat.play()
        assert problem in chat.report()
        assert chat.library.load("order") == PLAYBOOK
