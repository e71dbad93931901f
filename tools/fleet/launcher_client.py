"""The control plane's end of the launcher: its commands as methods.

As root the launcher is a process of its own, which keeps root. Without root it would have no more
rights than its control plane, which then carries out the commands itself.
"""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from deskhand.desktop.launch.channel import Channel, ChannelClosed, Message
from deskhand.desktop.launch_port.exec_launch import PASSED_ON
from deskhand.desktop.launch_port.fork_launch import MODE
from deskhand.desktop.launch_port.launch_port import LaunchDescriptors, LaunchedDesktop, LaunchSpec
from deskhand.desktop.profiles.profile_folder import StoredProfile
from deskhand.tools.launcher import launcher as launcher_module
from deskhand.tools.launcher.launcher import Launcher, LauncherConfiguration

from .errors import LauncherEnded, LauncherRefused

ENTRY = Path(str(launcher_module.__file__)).with_name("__main__.py")
"""Program of the launcher's process."""

Call = Callable[[Message, Sequence[int]], tuple[Message, Sequence[int]]]
"""Sends a request with descriptors, and returns the answer with others."""


@dataclass(frozen=True)
class LaunchedState:
    """A desktop that was started and not removed yet."""

    pid: int
    """Of its keeper."""
    state: Literal["runs", "ends", "dead"]
    """``ends``: its keeper has ended, and its service still closes recordings."""
    recordings: Mapping[str, Sequence[str]]
    """Of a dead desktop: the files by the id of their recording."""


class LauncherClient:
    """Sends commands, one after the other; all methods block, and any thread may call them.

    Raises:
        LauncherRefused: If the launcher refuses a request.
        LauncherEnded: If there is no launcher any more.
        OSError: If the operating system refuses what was requested.
    """

    def __init__(self, call: Call, close: Callable[[], None] = lambda: None) -> None:
        """``close`` ends what the launcher holds in this process."""
        self._call = call
        self.close = close
        # A request and its answer belong together.
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Begin to load what desktops are forked from; those that start before are executed."""
        self._ask("prepare", {})

    def launch(self, spec: LaunchSpec, descriptors: LaunchDescriptors) -> LaunchedDesktop:
        """Start a desktop; see ``DesktopLaunch``."""
        passed = descriptors.listening, descriptors.token, descriptors.ready, descriptors.log
        request = {"id": spec.desktop_id, "egress": spec.egress.to_json(), "speak": spec.speak}
        request["options"] = spec.options
        if spec.workdir:
            request["workdir"] = spec.workdir
        if spec.profile:
            request["profile"] = spec.profile
        answer, (pidfd,) = self._ask("start", {**request, "display": spec.has_display}, passed)
        return LaunchedDesktop(answer["pid"], pidfd)

    def stop(self, desktop_id: str) -> None:
        """Ask a desktop to end; raise ``ProcessLookupError`` if it has ended."""
        self._ask("stop", {"id": desktop_id})

    def kill(self, desktop_id: str) -> None:
        """Kill the keeper of a desktop; raise ``ProcessLookupError`` if it has ended."""
        self._ask("kill", {"id": desktop_id})

    def list(self) -> dict[str, LaunchedState]:
        """Return the desktops of this control plane by their ids."""
        answer, _ = self._ask("list", {})
        return {name: LaunchedState(**one) for name, one in answer["desktops"].items()}

    def open(self, desktop_id: str, recording_id: str, file: str) -> int:
        """Return a read-only descriptor of a file of a dead desktop."""
        request = {"id": desktop_id, "recording": recording_id, "file": file}
        _, (descriptor,) = self._ask("open", request)
        return descriptor

    def remove(self, desktop_id: str, recording_id: str = "") -> bool:
        """Remove a recording of a dead desktop; return whether the desktop went with the last."""
        recording = {"recording": recording_id} if recording_id else {}
        answer, _ = self._ask("remove", {"id": desktop_id, **recording})
        return bool(answer["removed"])

    def remove_workdir(self, name: str) -> None:
        """Remove a working directory whose desktops have ended."""
        self._ask("remove", {"workdir": name})

    def profiles(self) -> tuple[StoredProfile, ...]:
        """Return the named profiles, in the order of their names."""
        answer, _ = self._ask("profiles", {})
        return tuple(StoredProfile(**one) for one in answer["profiles"])

    def remove_profile(self, name: str) -> bool:
        """Remove a named profile; return False if there is none. A desktop's is refused."""
        return bool(self._ask("remove", {"profile": name})[0]["removed"])

    def _ask(
        self, command: str, fields: Message, descriptors: Sequence[int] = ()
    ) -> tuple[Message, Sequence[int]]:
        with self._lock:
            answer, passed = self._call({"do": command, **fields}, descriptors)
        return checked(answer), passed


def checked(answer: Message) -> Message:
    """Return an answer; raise the error that it reports."""
    if "refused" in answer:
        raise LauncherRefused(answer["refused"])
    if "error" in answer:
        raise OSError(answer["number"], answer["error"])
    return answer


def inner_launcher(
    configuration: LauncherConfiguration, environment: Mapping[str, str]
) -> LauncherClient:
    """Return a launcher that has the rights of this process; the caller closes it."""
    launcher = Launcher(configuration, environment)

    def call(message: Message, descriptors: Sequence[int]) -> tuple[Message, Sequence[int]]:
        answer, passed = launcher.answer(json.dumps(message).encode(), descriptors)
        return answer, () if passed is None else (passed,)

    return LauncherClient(call, launcher.close)


def start_launcher(
    end: socket.socket, configuration: LauncherConfiguration, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start the process of a launcher, which answers at ``end`` of a connection until it closes."""
    return subprocess.Popen(
        [
            *(sys.executable, "-S", "-E", str(ENTRY)),
            *(str(end.fileno()), json.dumps(asdict(configuration))),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(end.fileno(),),
        cwd="/",
        env={name: one for name, one in environment.items() if name in (*PASSED_ON, MODE)},
        start_new_session=True,
    )


@contextmanager
def standing_launcher(path: Path) -> Iterator[LauncherClient]:
    """Use the launcher that listens at a path, a unit of its own, while the block runs.

    Raises:
        OSError: If there is none.
    """
    end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    try:
        end.connect(str(path))
    except OSError as error:
        end.close()
        raise OSError(error.errno, f"no launcher answers at {path}: {error.strerror}") from error
    channel = Channel(end)
    try:
        yield LauncherClient(_Exchange(channel))
    finally:
        channel.close()


@contextmanager
def launcher_process(
    configuration: LauncherConfiguration, environment: Mapping[str, str]
) -> Iterator[LauncherClient]:
    """Run a launcher that keeps the present rights of this process, while the block runs.

    Raises:
        OSError: If it cannot work.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = start_launcher(theirs, configuration, environment)
    channel = Channel(ours)
    try:
        yield LauncherClient(_Exchange(channel))
    finally:
        channel.close()
        process.wait()


class _Exchange:
    """Requests and answers over the channel of a launcher that is starting."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._is_ready = False

    def __call__(
        self, message: Message, descriptors: Sequence[int]
    ) -> tuple[Message, Sequence[int]]:
        try:
            if not self._is_ready:
                # Its first message, when it has loaded its modules.
                checked(self._channel.receive()[0])
                self._is_ready = True
            self._channel.send(message, descriptors)
            return self._channel.receive()
        except (ChannelClosed, BrokenPipeError, ConnectionResetError) as error:
            raise LauncherEnded from error
