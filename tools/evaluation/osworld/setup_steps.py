"""The set-up steps of an OSWorld task as files, commands and what is opened. Pure.

OSWorld performs its steps one after another. Here files come first, then commands, then what is
shown. A step that would have to be done later than its kind is done is therefore not supported.
"""

import posixpath
import shlex
from collections.abc import Callable
from typing import Any

from deskhand.tools.evaluation.task import PlacedFile, Setup, SetupCommand

from .gaps import BadOsworldTask, Gaps, Json, items, local_file, mapping, text_of, texts_of

HOME = "/home/user"
FILES = "osworld"
"""Folder of the files in the working directory, until a command moves them to their places."""
BROWSERS = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser")
PYTHONS = {"python": "python3"}
LOCAL = ("http://127.0.0.1", "http://localhost", "file://", "about:")
"""Begins of addresses that need no internet."""


def read_config(config: Any, gaps: Gaps) -> Setup:
    """Return the set-up; adds what is not supported to ``gaps``.

    Raises:
        BadOsworldTask: If the steps have another form.
    """
    if not isinstance(config, list):
        raise BadOsworldTask("config: must be a list")
    reader = _ConfigReader(gaps)
    for number, step in enumerate(items(config, "config"), 1):
        reader.step(step, f"config {number}")
    return reader.setup()


class _ConfigReader:
    def __init__(self, gaps: Gaps) -> None:
        self._gaps = gaps
        self._files: list[PlacedFile] = []
        self._commands: list[SetupCommand] = []
        self._open: list[str] = []
        self._launch: list[str] = []
        self._browser = False
        self._steps: dict[str, Callable[[Json, str], None]] = {
            "download": self._download,
            "upload_file": self._upload,
            "execute": self._execute,
            "command": self._execute,
            "launch": self._launched,
            "open": self._opened,
            "chrome_open_tabs": self._tabs,
            # The set-up waits for what it shows, without fixed times.
            "sleep": lambda _given, _where: None,
        }

    def step(self, step: Json, where: str) -> None:
        """Add one step."""
        kind = text_of(step, "type", where)
        read = self._steps.get(kind)
        if read is None:
            self._gaps.add(where, f"the type {kind!r} (known are {', '.join(self._steps)})")
            return
        read(mapping(step.get("parameters", {}), f"{where}.parameters"), where)

    def setup(self) -> Setup:
        """Return what the steps come to."""
        launch = self._launch
        # A browser that shows a page is launched by that.
        if self._browser and not self._open:
            launch = ["browser", *launch]
        opened, launched = tuple(self._open), tuple(launch)
        commands = tuple(self._commands)
        return Setup(files=tuple(self._files), commands=commands, open=opened, launch=launched)

    def _download(self, given: Json, where: str) -> None:
        for file in items(given.get("files", []), f"{where}.files"):
            self._place(text_of(file, "url", where), text_of(file, "path", where), where)

    def _upload(self, given: Json, where: str) -> None:
        for file in items(given.get("files", []), f"{where}.files"):
            self._place(text_of(file, "local_path", where), text_of(file, "path", where), where)

    def _place(self, address: str, path: str, where: str) -> None:
        source = local_file(address)
        if source is None:
            self._gaps.add(where, f"{address} (only files beside the task)")
            return
        kept = f"{FILES}/{len(self._files)}"
        self._files.append(PlacedFile(kept, source=source))
        folder = posixpath.dirname(path) or "."
        self._command(f"mkdir -p {_quoted(folder)} && mv {kept} {_quoted(path)}", where)

    def _execute(self, given: Json, where: str) -> None:
        command = command_line(given, where)
        if "pyautogui" in command:
            self._gaps.add(where, "a command that uses pyautogui")
            return
        self._command(command.replace(HOME, "{home}"), where)

    def _command(self, command: str, where: str) -> None:
        if self._open or self._launch or self._browser:
            self._gaps.add(where, "a file or command after something was opened or launched")
        self._commands.append(SetupCommand(command))

    def _launched(self, given: Json, where: str) -> None:
        command = command_line(given, where)
        program, *arguments = shlex.split(command) or [""]
        if posixpath.basename(program) == "socat":
            # It only forwards the browser's debugging port to OSWorld's own checks.
            return
        if posixpath.basename(program) in BROWSERS:
            self._browser = True
            self._addresses([one for one in arguments if not one.startswith("-")], where)
            return
        self._launch.append(command.replace(HOME, "{home}"))

    def _opened(self, given: Json, where: str) -> None:
        self._open.append(text_of(given, "path", where).replace(HOME, "{home}"))

    def _tabs(self, given: Json, where: str) -> None:
        self._addresses(texts_of(given, "urls_to_open", where), where)

    def _addresses(self, addresses: list[str] | tuple[str, ...], where: str) -> None:
        for address in addresses:
            if address.startswith(LOCAL):
                self._open.append(address.replace(HOME, "{home}"))
            else:
                self._gaps.add(where, f"{address} (it needs the internet)")


def command_line(given: Json, where: str) -> str:
    """Return the command of a step as a line of the shell.

    Raises:
        BadOsworldTask: If it is neither a text nor a list of texts.
    """
    command = given.get("command")
    if isinstance(command, str) and command:
        return command
    parts = texts_of(given, "command", where)
    if not (parts and parts[0]):
        raise BadOsworldTask(f"{where}.command: must be a text or a list of texts")
    return shlex.join([PYTHONS.get(parts[0], parts[0]), *parts[1:]])


def _quoted(path: str) -> str:
    # The place is filled in later, with a path that needs no quotes.
    return shlex.quote(path).replace(HOME, "{home}")
