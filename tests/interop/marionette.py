"""Firefox without a display, driven over its Marionette protocol.

Messages are JSON with their length in front: ``LENGTH:[type, id, command, parameters]``. See
https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html.
"""

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from tests.system.services import until

Json = dict[str, Any]
COMMAND = 0


class Firefox:
    """A connection to a running Firefox."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._sent = 0
        self._read()  # the greeting
        self.send("WebDriver:NewSession", {})

    def send(self, command: str, parameters: Json) -> Any:
        """Send a command and return its result."""
        self._sent += 1
        message = json.dumps([COMMAND, self._sent, command, parameters]).encode()
        self._stream.write(b"%d:%s" % (len(message), message))
        self._stream.flush()
        _, _, error, result = self._read()
        assert error is None, error
        return result

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script; its last argument is the function that takes the result."""
        asked = {"script": script, "args": list(arguments), "scriptTimeout": 60_000}
        return self.send("WebDriver:ExecuteAsyncScript", asked)["value"]

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            byte = self._stream.read(1)
            assert byte, "Firefox closed the connection"
            length += byte
        return json.loads(self._stream.read(int(length[:-1])))


@contextmanager
def firefox(program: str, profile: Path) -> Iterator[Firefox]:
    """Run Firefox with a fresh profile until the block ends."""
    profile.mkdir()
    # Firefox writes the port that it has chosen for 0 into this file.
    (profile / "user.js").write_text(
        'user_pref("marionette.port", 0);\nuser_pref("media.autoplay.default", 0);\n'
    )
    command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    chosen = profile / "MarionetteActivePort"
    with (profile / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        port = int(until(lambda: chosen.exists() and chosen.read_text(), "the port of Marionette"))
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.settimeout(120)
            with connection.makefile("rwb") as stream:
                yield Firefox(cast("IO[bytes]", stream))
    finally:
        process.kill()
        process.wait()
