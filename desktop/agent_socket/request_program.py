"""Program by which a command asks its desktop's service; copied into the desktop's directory.

Usage: PROGRAM SOCKET browser|terminal [ARGUMENT...] | open TARGET | input JSON | status [TEXT] |
askpass PROMPT BRANCH ORIGIN. It needs the standard library only: the desktop's user may
be unable to read any other.
"""

import json
import os
import socket
import sys
from typing import Any

REFUSED = 126
"""Exit code of a shell for a program that cannot be executed."""
_FILE = "file:///"


def request_of(words: list[str]) -> dict[str, Any] | None:
    """Return the request for a command line; None if it is wrong."""
    name, arguments = words[0] if words else "", words[1:]
    if name in ("browser", "terminal"):
        return {"do": "launch", "name": name, "arguments": [*map(_located, arguments)]}
    if name == "open" and len(arguments) == 1:
        target = arguments[0]
        path = target[len(_FILE) - 1 :] if target.startswith(_FILE) else target
        return {"do": "open", "target": _located(path)}
    if name == "input" and len(arguments) == 1:
        return {**json.loads(arguments[0]), "do": "input"}
    if name == "askpass" and len(arguments) == 3:
        prompt, branch, origin = arguments
        return {"do": "askpass", "prompt": prompt, "branch": branch, "origin": origin}
    if name == "status" and len(arguments) <= 1:
        return {"do": "status", **({"text": arguments[0]} if arguments else {})}
    return None


def run(path: str, words: list[str]) -> int:
    """Send the request and print the answer; return the exit code."""
    name = words[0] if words else "request"
    request = request_of(words)
    if request is None:
        return _failed(name, "wrong arguments")
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as lines:
                return _answered(name, [*map(json.loads, lines)])
        except OSError as error:
            return _failed(name, f"the desktop's service does not answer: {error}")


def _answered(name: str, answers: list[dict[str, Any]]) -> int:
    if not answers:
        return _failed(name, "the desktop's service has closed the connection")
    if "error" in answers[0]:
        return _failed(name, answers[0]["error"]["message"])
    if name == "askpass":
        sys.stdout.write(answers[0]["answer"] + "\n")
    elif "dropped" in answers[0]:
        sys.stderr.write("status: dropped, as there are too many messages\n")
    elif name in ("status", "input") and "accepted" not in answers[0]:
        sys.stdout.write(json.dumps(answers[0]) + "\n")
    return int(answers[-1].get("exit_code", 0))


def _failed(name: str, reason: str) -> int:
    sys.stderr.write(f"{name}: {reason}\n")
    return REFUSED


def _located(argument: str) -> str:
    """Return the absolute path of a file that an argument names, else the argument."""
    path = os.path.abspath(argument)  # noqa: PTH100 - pathlib takes longer to import
    if argument.startswith("-") or not os.path.exists(path):  # noqa: PTH110
        return argument
    return path


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
