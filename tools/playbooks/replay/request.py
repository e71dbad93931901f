"""The first message of a chat that replays: the playbook's values, in words that people read."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.documents.documents import nearest
from deskhand.tools.playbooks.errors import BadParameters
from deskhand.tools.playbooks.playbook import Playbook


@dataclass(frozen=True)
class ReplayRequest:
    """Values of a replay, and the playbook that it was asked for."""

    values: Mapping[str, str] = field(default_factory=dict)
    outline: str = ""
    """:func:`outline` of the playbook at that time; empty if it is not known."""


def request_text(playbook: Playbook, values: Mapping[str, str]) -> str:
    """Return the message that asks for a replay."""
    content = {"set": dict(values), "outline": outline(playbook)}
    return f"Replay the playbook {playbook.name}.\n{json.dumps(content, ensure_ascii=False)}"


def read_request(messages: Iterable[Message]) -> ReplayRequest:
    """Return the request in the first message; without values if it has none.

    Raises:
        BadParameters: If what follows its first brace is not an object of texts.
    """
    first = next(iter(messages), None)
    texts = [b.text for b in first.content if isinstance(b, Text)] if first else []
    _, brace, rest = "\n".join(texts).partition("{")
    if not brace:
        return ReplayRequest()
    try:
        content = json.loads(brace + rest)
    except ValueError as error:
        raise BadParameters(f"the values of the replay are not JSON: {error}") from None
    values = content.get("set", {})
    if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
        raise BadParameters('the values of the replay must be texts: {"set": {"name": "value"}}')
    return ReplayRequest(values, str(content.get("outline", "")))


def checked_values(playbook: Playbook, values: Mapping[str, str]) -> dict[str, str]:
    """Return a value for each parameter of a playbook, its default where none is given.

    Raises:
        BadParameters: If a name is unknown, or a value is missing.
    """
    known = playbook.parameters
    for name in values:
        if name not in known:
            advice = nearest(name, tuple(known), "there are") if known else "it has none"
            raise BadParameters(f"{playbook.name} has no parameter {name!r}; {advice}")
    missing = [
        name for name, one in known.items() if one.default is None and values.get(name) is None
    ]
    if missing:
        raise BadParameters(
            f"{playbook.name} needs a value for {', '.join(missing)}: --set {missing[0]}=…"
        )
    return {name: values.get(name, one.default or "") for name, one in known.items()}


def outline(playbook: Playbook) -> str:
    """Return a digest of the actions of a playbook, which stays the same when a step is healed."""
    steps = [
        (s.action, s.intent, s.text, s.keys, s.secret, s.url, s.command) for s in playbook.steps
    ]
    return sha256(repr((playbook.start, steps)).encode()).hexdigest()[:16]
