"""Player of a script: computes the reply to a conversation. Pure.

The player keeps no state between requests. The position in the script is encoded in the ids of its
tool calls, which return with every request:

    toolu_r<round>s<step>t<tries><c|w>_<index>_<nonce>

``round`` counts how often the script was restarted by a message after its end, ``tries`` how often
the step was delayed or repeated. ``c`` marks a call of the script, ``w`` a call that only waits for
the screen. The newest id gives the step that was played last; replies without calls after it are
steps without calls. So the server can be restarted, and one script can serve many chats at once.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from deskhand.tools.agents.checkpoints.own_summary import SUMMARY_REQUEST
from deskhand.tools.kit.support.untrusted import without_mark

from .request import Request
from .script import Fault, Needs, Patch, Script, ScriptedCall, ScriptStep
from .summary import ScriptState, asks_for_summary, state_of, states, summary_text
from .vision import Pixels, changed_fraction, find_blob, find_nearest

Json = dict[str, Any]

# An id of another form was made by another model that worked in this chat before.
CALL_ID = re.compile(r"toolu_r(\d+)s(\d+)t(\d+)([cw])_.*")
SUBSTITUTION = re.compile(r"\{(prompt|result|calls)(?::([\w.-]+))?((?:\|(?:sh|line))*)\}")
# An address in a text, without the punctuation of the sentence after it.
URL = re.compile(r"https?://[^\s\"'<>)\]}]+[^\s\"'<>)\]}.,;:!?]")
WAIT_SECONDS = 1
EMPTY_SUMMARY = "empty_summary"
NOT_DONE = "Not done:"
"""Begin of a result when a person acted before the call was performed: the call is repeated."""


@dataclass(frozen=True)
class PlayedTurn:
    """One reply, and the fault with which its first deliveries fail."""

    content: tuple[Json, ...]
    stop_reason: str
    step: int
    fault: Fault | None = None


@dataclass(frozen=True)
class _Position:
    round: int
    """Number of restarts of the script, by a message after its end."""
    step: int
    tries: int = 0


class _Stuck(Exception):
    """The script cannot continue; the message is the reason."""


Decode = Callable[[bytes], Pixels]


def play(script: Script, request: Request, decode: Decode, nonce: str) -> PlayedTurn:
    """Return the reply to a request.

    ``decode`` returns the pixels of a picture. ``nonce`` makes the ids of the calls different from
    those of other chats.
    """
    position = _position(script, request)
    if request.summarize or asks_for_summary(request.messages):
        return _summary(script, request, position)
    if position.step >= len(script.steps):
        return PlayedTurn((_text("The script ends here."),), "end_turn", position.step)
    step = script.steps[position.step]
    player = _Player(request, decode, position, nonce)
    try:
        return player.reply(step)
    except _Stuck as stuck:
        return player.give_up(str(stuck))


def _summary(script: Script, request: Request, position: _Position) -> PlayedTurn:
    ids = [b["id"] for m in request.messages for b in m["content"] if b["type"] == "tool_use"]
    before = [state.call_id for state in states(request.messages) if state.call_id]
    texts = [t for t in _user_texts(request) if not t.startswith(SUMMARY_REQUEST)]
    text = summary_text(ScriptState(tuple(texts), next(iter([*ids[::-1], *before]), None)))
    faults = [step.fault for step in script.steps[position.step : position.step + 1]]
    fault = next((one for one in faults if one and one.kind == EMPTY_SUMMARY), None)
    if not request.summarize:
        return PlayedTurn((_text(text),), "end_turn", position.step, fault)
    block = {"type": "compaction", "content": text, "signature": ""}
    return PlayedTurn((block,), "compaction", position.step, fault)


def without_summary(turn: PlayedTurn) -> PlayedTurn:
    """Return a summary without its text."""
    blocks = (block for block in turn.content if block["type"] == "compaction")
    return replace(turn, content=tuple({**block, "content": ""} for block in blocks))


def with_one_id(turn: PlayedTurn) -> PlayedTurn:
    """Return a reply all of whose calls have the id of the first."""
    first = next((block["id"] for block in turn.content if "id" in block), "")
    content = ({**block, "id": first} if "id" in block else block for block in turn.content)
    return replace(turn, content=tuple(content))


class _Player:
    def __init__(self, request: Request, decode: Decode, position: _Position, nonce: str) -> None:
        self._request = request
        self._decode = decode
        self._position = position
        self._nonce = nonce
        self._sources: dict[str, Callable[[str | None], object]] = {
            "prompt": self._prompt,
            "result": self._result,
            "calls": lambda _: sum(map(_call_count, request.messages)),
        }

    def reply(self, step: ScriptStep) -> PlayedTurn:
        if step.needs is not None and not self._shows(step.needs):
            if failure := _failed_background(self._request.messages, self._position.step - 1):
                raise _Stuck(failure)
            if self._position.tries < step.needs.tries:
                return self._turn("", (self._waiting_call(),), "w", None, step.fault)
            if step.needs.otherwise == "fail":
                raise _Stuck("what the next step needs did not appear on the screen")
        turn = self._turn(self._fill(step.say), step.calls, "c", step.stop_reason, step.fault)
        turn = replace(turn, content=tuple(_checked(b, step.checks) for b in turn.content))
        if step.think is None:
            return turn
        # Signed by the server, as the signature covers all of the request.
        thinking = {"type": "thinking", "thinking": step.think, "signature": ""}
        return replace(turn, content=(thinking, *turn.content))

    def give_up(self, why: str) -> PlayedTurn:
        reason = f"The script cannot go on: {why}."
        # Text alone counts as a report of success, so that a chat with the report tool must report
        # "blocked".
        if "report" not in self._request.tools:
            return PlayedTurn((_text(reason),), "end_turn", self._position.step)
        call = ScriptedCall("report", {"summary": reason, "outcome": "blocked", "evidence": []})
        return self._turn("", (call,), "c", None, None)

    def _shows(self, needs: Needs) -> bool:
        # Pictures come from the computer tool alone: without it, waiting for one is useless.
        if not self._request.computer:
            raise _Stuck("it needs the computer tool, and none is offered")
        pictures = self._request.pictures
        if not pictures:
            return False
        newest = self._decode(pictures[-1].data)
        if needs.blob is not None:
            blob = find_blob(newest, needs.blob.colour, needs.blob.tolerance)
            return blob is not None and blob.pixels >= needs.at_least
        # Requests contain only the newest pictures, so that the first one is some steps old.
        oldest = self._decode(pictures[0].data)
        return changed_fraction(oldest, newest) >= (needs.changed or 0.0)

    def _waiting_call(self) -> ScriptedCall:
        if not self._request.pictures:
            return ScriptedCall("screenshot", {}, "computer")
        return ScriptedCall("wait", {"duration": WAIT_SECONDS}, "computer")

    def _turn(
        self,
        say: str,
        calls: tuple[ScriptedCall, ...],
        kind: str,
        stop_reason: str | None,
        fault: Fault | None,
    ) -> PlayedTurn:
        content = [_text(say)] if say else []
        content += [self._call(call, kind, index) for index, call in enumerate(calls)]
        usual = "tool_use" if calls else "end_turn"
        if fault is not None and fault.kind == EMPTY_SUMMARY:
            fault = None
        return PlayedTurn(tuple(content), stop_reason or usual, self._position.step, fault)

    def _call(self, call: ScriptedCall, kind: str, index: int) -> Json:
        at = self._position
        data: Json = {
            "type": "tool_use",
            "id": f"toolu_r{at.round}s{at.step}t{at.tries}{kind}_{index}_{self._nonce}",
            "name": call.name,
            "input": self._value(call.input),
        }
        return data if call.toolset is None else {**data, "toolset_name": call.toolset}

    def _value(self, value: object) -> Any:
        if isinstance(value, Patch):
            return self._point(value)
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, str):
            # A text that consists of one substitution keeps the type of its value: a number stays a
            # number.
            whole = SUBSTITUTION.fullmatch(value)
            return self._found(whole) if whole else self._fill(value)
        return value

    def _point(self, patch: Patch) -> list[int]:
        pictures = self._request.pictures
        newest = self._decode(pictures[-1].data) if pictures else None
        blob = None if newest is None else find_nearest(newest, patch.colour, patch.tolerance)
        if blob is None:
            raise _Stuck(f"no blob of the colour {patch.colour} is on the screen")
        return [blob.x, blob.y]

    def _fill(self, text: str) -> str:
        return SUBSTITUTION.sub(lambda match: _as_text(self._found(match)), text)

    def _found(self, match: re.Match[str]) -> object:
        source, path, forms = match.groups()
        value = self._sources[source](path)
        # ``forms`` begins with the separator, so that the first item of the split is empty.
        for form in forms.split("|")[1:]:
            text = _as_text(value)
            value = shlex.quote(text) if form == "sh" else text.strip().partition("\n")[0]
        return value

    def _prompt(self, form: str | None) -> str:
        texts = list(_user_texts(self._request))
        if form is None and texts:
            return texts[-1]
        if form == "url":
            for text in reversed(texts):
                found = URL.findall(text)
                if found:
                    return str(found[-1])
        raise _Stuck(f"nothing was said that fits {{prompt:{form or ''}}}")

    def _result(self, path: str | None) -> object:
        for result in _results(self._request.messages):
            value = _at(result, path or "")
            if value is not None:
                return value
        raise _Stuck(f"no tool gave a {path!r}")


def _position(script: Script, request: Request) -> _Position:
    without_calls = 0
    for message in reversed(request.messages):
        if message["role"] != "assistant":
            continue
        last = _last_call(message)
        if last is None:
            # A reply that is the summary of a compaction is no step.
            without_calls += any(b["type"] != "compaction" for b in message["content"])
            continue
        return _after(script, request, last, without_calls)
    for state in states(request.messages):
        summarized = CALL_ID.fullmatch(state.call_id or "")
        if summarized is not None:
            # The replies after it that have no calls are those that the summary knows already.
            return _after(script, request, summarized, 0)
    return _wrapped(script, request, _Position(0, without_calls))


def _checked(block: Json, kinds: tuple[str, ...]) -> Json:
    """Return a block, with safety checks if it is a computer call."""
    if not kinds or block.get("toolset_name") != "computer":
        return block
    message = "The page may give instructions, says the script."
    checks = [
        {"id": f"sc_{index}_{block['id']}", "code": kind, "message": message}
        for index, kind in enumerate(kinds)
    ]
    return {**block, "checks": checks}


def _call_count(message: Json) -> int:
    return sum(block["type"] == "tool_use" for block in message["content"])


def _last_call(message: Json) -> re.Match[str] | None:
    ids = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
    found = [match for match in map(CALL_ID.fullmatch, ids) if match]
    return found[-1] if found else None


def _after(script: Script, request: Request, call: re.Match[str], without_calls: int) -> _Position:
    round_, step, tries = (int(group) for group in call.groups()[:3])
    # The id may be of a longer version of the script: scripts can be edited between two requests.
    played = script.steps[step] if step < len(script.steps) else ScriptStep()
    # Only the last message counts: an older result must not make the step repeat.
    newest = next(_results(request.messages[-1:]), {})
    again = call[4] == "w" or _not_done(request.messages[-1])
    if again or (played.again_while and _at(newest, played.again_while)):
        return _Position(round_, step, tries + 1)
    return _wrapped(script, request, _Position(round_, step + 1 + without_calls))


def _wrapped(script: Script, request: Request, position: _Position) -> _Position:
    """Return the first step of a new round for a message after the end of the script."""
    # Results also arrive in messages of the user; only a text is a new request to the script.
    fresh = any(b["type"] == "text" for b in request.messages[-1]["content"])
    if position.step >= len(script.steps) and fresh:
        return _Position(position.round + 1, 0)
    return position


def _failed_background(messages: tuple[Json, ...], step: int) -> str:
    """Return why a background command of a step has failed already, empty if none has."""
    for message in reversed(messages):
        for block in message["content"]:
            if block["type"] != "tool_result":
                continue
            call = CALL_ID.fullmatch(block.get("tool_use_id", ""))
            if call is None or call[4] != "c" or int(call[2]) != step:
                continue
            for result in _objects(block.get("content", "")):
                if result.get("backgrounded") and result.get("success") is False:
                    return str(result.get("error", "a background command failed"))
    return ""


def _not_done(message: Json) -> bool:
    results = [b.get("content", "") for b in message["content"] if b["type"] == "tool_result"]
    texts = [content if isinstance(content, str) else _first_text(content) for content in results]
    return any(without_mark(text).startswith(NOT_DONE) for text in texts)


def _first_text(content: list[Json]) -> str:
    return next((str(block["text"]) for block in content if block["type"] == "text"), "")


def _user_texts(request: Request) -> Iterator[str]:
    """Yield the texts of the user, oldest first, without tool results."""
    for message in request.messages:
        for block in message["content"]:
            state = state_of(block)
            if state is not None:
                yield from state.texts
            elif message["role"] == "user" and block["type"] == "text":
                yield block["text"]


def _results(messages: tuple[Json, ...]) -> Iterator[Json]:
    """Yield the JSON objects that tools returned, newest first."""
    for message in reversed(messages):
        for block in reversed(message["content"]):
            if block["type"] == "tool_result":
                yield from _objects(block.get("content", ""))


def _objects(content: str | list[Json]) -> Iterator[Json]:
    texts = [content] if isinstance(content, str) else [b.get("text", "") for b in content]
    for text in reversed(texts):
        try:
            value = json.loads(without_mark(text))
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _at(value: object, path: str) -> object:
    """Return the value at a path ``a.0.b`` of dictionaries and lists; ``None`` if there is none."""
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
