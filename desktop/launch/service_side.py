"""The service's requests to its keeper and to init; see `host_channel` and `init`."""

import os
import socket
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from deskhand.desktop.errors import AccountUnavailable
from deskhand.desktop.isolation.account import Account
from deskhand.desktop.isolation.environment import SYSTEM_PATH
from deskhand.desktop.isolation.identity import DesktopIdentity

from .channel import CHANNELS, Channel, ChannelClosed, Message, adopted
from .desktop_group import APPLICATIONS, COMMANDS
from .init_launcher import InitLauncher
from .limits import DesktopLimits
from .mount_plan import DesktopView


@dataclass(frozen=True)
class Prepared:
    """What the keeper has prepared for this service."""

    account: Account
    display: int | None
    """Number of the X display; None if the X server chooses it."""
    keeper: int
    """Pid of the keeper on the host."""
    refused: str
    """Why there are no namespaces; empty if there are."""
    held: tuple[int, ...]
    """Descriptors that stay open until this process ends."""


@dataclass(frozen=True)
class Enforcement:
    """Answer of the keeper about the limits of a desktop."""

    refused: str
    """Why no control group does it; empty if one does."""
    group: Path | None
    """The control group of the desktop; None if there is none."""
    ungrouped: str
    """Why there is none; empty if there is one."""

    @property
    def commands(self) -> Path | None:
        """The group that is delegated to the service's user, for the groups of commands."""
        return self.group / COMMANDS if self.group and not self.refused else None

    @property
    def applications(self) -> Path | None:
        """The same for the groups of programs that the service launches."""
        return self.group / APPLICATIONS if self.group and not self.refused else None


class ServiceSide:
    """The channels of a service that a keeper of root has started."""

    def __init__(self, keeper: Channel, init: Channel, helper_forks: socket.socket) -> None:
        self._keeper = keeper
        self._init = init
        self._asking = Lock()
        self.programs = InitLauncher(init, self._asking)
        """Starts programs, after the users have been fixed."""
        self.helper_forks = helper_forks
        """Socket of the fork server of agent helpers."""

    def ask_to_prepare(self, identity: DesktopIdentity, profile: Path | None = None) -> None:
        """Have the keeper prepare the desktop, while this process goes on loading."""
        message = {
            "do": "prepare",
            "instance": identity.instance,
            "root": str(identity.root),
            "folder": str(identity.directory.path),
            "numbers": [identity.numbers.start, identity.numbers.stop],
            "uid_base": identity.uid_base,
            "profile": "" if profile is None else str(profile),
        }
        self._keeper.send(message)

    def prepared(self) -> Prepared:
        """Wait for what was asked for.

        Raises:
            AccountUnavailable: If the desktop could not be prepared, with the reason.
        """
        answer, held = self._keeper.receive()
        if "error" in answer:
            raise AccountUnavailable(str(answer["error"]))
        account = Account.from_json(answer["account"])
        facts = answer["display"], int(answer["keeper"]), str(answer["refused"])
        return Prepared(account, *facts, tuple(held))

    def ask_to_limit(
        self, identity: DesktopIdentity, account: Account, limits: DesktopLimits
    ) -> None:
        """Have init limit the desktop; `limited` has to be the next request."""
        users = {"users": list(account.uids), "owner": account.service.uid}
        message = {"do": "limit", "instance": identity.instance, **users}
        self._init.send({**message, "limits": limits._asdict()})

    def limited(self) -> Enforcement:
        """Wait for what was asked for."""
        answer, _ = self._init.receive()
        refused = str(answer.get("refused", "") or answer.get("error", ""))
        group = str(answer.get("group", ""))
        return Enforcement(
            refused, Path(group) if group else None, str(answer.get("ungrouped", ""))
        )

    def enter_view(self, view: DesktopView) -> None:
        """Have init mount what the desktop sees; afterwards the rest of the machine is read-only.

        Raises:
            OSError: If the kernel refuses.
        """
        self._requested({"do": "view", **view._asdict()})

    def keep(
        self,
        argv: Sequence[str],
        descriptors: Sequence[int],
        numbers: Sequence[int],
        notice: int,
        *,
        inside: bool,
    ) -> None:
        """Have init start a program of root, and start it again whenever it ends.

        ``descriptors`` have these ``numbers`` in the program. ``notice`` gets a character ``0`` at
        each end. With ``inside`` the program is in the namespaces of this process.

        Raises:
            OSError: If init refuses.
        """
        message = {"do": "keep", "argv": list(argv), "numbers": list(numbers), "inside": inside}
        environment = {"PATH": SYSTEM_PATH}
        self._requested({**message, "environment": environment}, [notice, *descriptors])

    def forget(self) -> None:
        """Have init start no kept program again."""
        self._requested({"do": "forget"})

    def _requested(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        with self._asking:
            self._init.send(message, descriptors)
            answer, _ = self._init.receive()
        if "error" in answer:
            raise OSError(str(answer["error"]))

    def host_pid(self, pid: int) -> int:
        """Return the pid that a process of this namespace has on the host; blocks briefly.

        Raises:
            ProcessLookupError: If it has ended.
        """
        pidfd = os.pidfd_open(pid)
        try:
            with self._asking:
                self._keeper.send({"do": "pid"}, [pidfd])
                found = int(self._keeper.receive()[0]["pid"])
        except ChannelClosed as error:
            raise ProcessLookupError(pid) from error
        finally:
            os.close(pidfd)
        # A process that was reaped meanwhile has the pid -1 (proc(5), fdinfo).
        if found < 1:
            raise ProcessLookupError(pid)
        return found


def service_side(environment: MutableMapping[str, str]) -> ServiceSide | None:
    """Return the channels that init left for this process; None without a keeper of root.

    The variable that names them is removed, because it means nothing to a child.
    """
    numbers = environment.pop(CHANNELS, "")
    if not numbers:
        return None
    keeper, init, helpers = map(int, numbers.split(","))
    os.set_inheritable(helpers, False)
    return ServiceSide(adopted(keeper), adopted(init), socket.socket(fileno=helpers))
